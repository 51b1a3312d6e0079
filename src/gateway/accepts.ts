/** Whether a client reads an event stream as the answer to its POST. */
export function acceptsEvents(accept = ''): boolean {
  return /(?:^|[,\s])(?:\*\/\*|text\/(?:\*|event-stream))(?:$|[\s;,])/i.test(accept);
}
