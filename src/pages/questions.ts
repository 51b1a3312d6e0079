/** What the pages can be asked for, from the rules of all upstreams: single credentials and choices between several. */
import { questionName, questionPlace, type ProtectedUpstream, type RequiredCredential } from '../gateway/protected-upstream.ts';
import type { Asked, Pages } from './visit.ts';

export function questionsOf(upstreams: ReadonlyMap<string, ProtectedUpstream>): Pick<Pages, 'all' | 'find' | 'questionsFor'> {
  const single = ({ config: upstream }: ProtectedUpstream, credential: RequiredCredential): Asked => ({ upstream, credential, anyOf: [credential], isPicked: true });
  const requirements = [...upstreams.values()].flatMap((upstream) => upstream.requirements);
  return {
    all: [...upstreams.values()].flatMap((upstream) => upstream.credentials.map((credential) => single(upstream, credential))),
    find(name, question, picked) {
      const upstream = upstreams.get(name);
      const credential = upstream?.credentials.find((one) => one.config.name === question);
      if (upstream !== undefined && credential !== undefined) return single(upstream, credential);
      const anyOf = upstream?.requirements.find((requirement) => questionName(requirement) === question)?.anyOf;
      const [first] = anyOf ?? [];
      if (upstream === undefined || anyOf === undefined || first === undefined) return undefined;
      const chosen = anyOf.find((one) => one.config.name === picked);
      return { upstream: upstream.config, credential: chosen ?? first, anyOf, isPicked: chosen !== undefined };
    },
    questionsFor({ config: { name }, place }) {
      const answered = requirements.filter(({ anyOf }) => anyOf.some((one) => one.config.name === name && one.place === place));
      const questions = answered.map((requirement) => ({ place: questionPlace(requirement), name: questionName(requirement) }));
      return [...new Map(questions.map((question) => [JSON.stringify([question.place ?? null, question.name]), question])).values()];
    },
  };
}
