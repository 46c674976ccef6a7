// Which gateway is believed to be the one, and who we are to it: certificates and keys in PEM.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Merchant } from '../domain/merchant.ts'
import { Secret } from '../domain/secret.ts'
import { readTextSync } from '../files/open-file.ts'
import { type ExposedFile, noteReaders, noteWriters, whyNotRead } from './secret-files.ts'
import type { Note } from './setting-readers.ts'

/** Names of the files that the trust of a merchant comes from. */
export interface TrustNames<Name extends string> {
  readonly ca: Name
  readonly cert: Name
  readonly key: Name
}

/** Reads the files of those that are named; a certificate without its key cannot be used. */
export function trustFrom<Name extends string>(
  names: TrustNames<Name>,
  pathOf: (name: Name) => string | undefined,
  note: Note,
  exposed: ExposedFile[],
): Merchant['trust'] {
  const read = (name: Name) => {
    const path = pathOf(name)
    if (path === undefined) return undefined
    return { pem: readPem(path, name === names.key, (problem) => note(name, problem), exposed) }
  }
  const [ca, cert, key] = [read(names.ca), read(names.cert), read(names.key)]
  if (cert !== undefined && key === undefined) note(names.key, `is missing: ${names.cert} needs it`)
  if (key !== undefined && cert === undefined) note(names.cert, `is missing: ${names.key} needs it`)
  if (cert?.pem !== undefined && key?.pem !== undefined && !belongTogether(cert.pem, key.pem))
    note(names.key, `is not the key of ${names.cert}`)
  return {
    ca: ca?.pem ?? null,
    clientCert: cert?.pem ?? null,
    clientKey: key?.pem === undefined ? null : new Secret(key.pem),
  }
}

function belongTogether(cert: string, key: string): boolean {
  return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
}

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

export function readPem(
  path: string,
  isKey: boolean,
  complain: (problem: string) => void,
  exposed: ExposedFile[],
): string | undefined {
  let text: string
  try {
    text = readTextSync(path)
  } catch (error) {
    complain(`names ${path}, which ${whyNotRead(error)}`)
    return undefined
  }
  try {
    if (isKey) noteReaders(path, exposed)
    else noteWriters(path, exposed)
    if (isKey) createPrivateKey(text)
    else if ((text.match(CERTIFICATES) ?? []).map((one) => new X509Certificate(one)).length === 0) throw new Error()
    return text
  } catch {
    complain(`names ${path}, which holds no ${isKey ? 'private key without a passphrase' : 'certificate'} in PEM`)
    return undefined
  }
}
