/**
 * Certificates for a connection, from the files that the configuration names: read and tried once, at the
 * start, so that a damaged file is told then and not by the first call.
 */
import { readFileSync } from 'node:fs';
import { createSecureContext, rootCertificates } from 'node:tls';
import { UnavailableError } from '../errors.ts';

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface Certificates {
  readonly ca?: string[];
  readonly cert?: string;
  readonly key?: string;
}

/**
 * @param where the place in the file, for the message
 * @param isFurther the authorities stand beside the usual ones, not in their place
 * @throws UnavailableError when a file cannot be read or used
 */
export function readCertificates(where: string, { ca, cert, key }: CertificateFiles, isFurther = false): Certificates {
  try {
    const certificates: Certificates = {
      ...(ca === undefined ? {} : { ca: [...(isFurther ? rootCertificates : []), readFileSync(ca, 'utf8')] }),
      ...(cert === undefined ? {} : { cert: readFileSync(cert, 'utf8') }),
      ...(key === undefined ? {} : { key: readFileSync(key, 'utf8') }),
    };
    createSecureContext(certificates);
    return certificates;
  } catch (cause) {
    throw new UnavailableError(`the certificates of ${where} cannot be used`, { cause });
  }
}
