// What a start warns of in the configuration: files that other users reach, and variables that nothing reads.

interface Exposed {
  readonly path: string
  readonly by: 'read' | 'write'
}

export function exposedText({ path, by }: Exposed): string {
  return by === 'read'
    ? `other users of this machine can read ${path}, which holds a secret (chmod 600 ${path})`
    : `other users of this machine can change ${path}, which says where passwords are sent (chmod go-w ${path})`
}

/** A misspelt limit would be no limit, and say nothing. */
export function unknownText(unknown: readonly string[]): string {
  const [are, them] = unknown.length === 1 ? ['is no setting', 'it'] : ['are no settings', 'them']
  return `${unknown.join(', ')} ${are}: nothing reads ${them}. docs/CONFIGURATION.md lists every setting`
}

/** Of a process that is to send. */
export function startWarnings({
  exposed,
  unknown,
}: {
  exposed: readonly Exposed[]
  unknown: readonly string[]
}): readonly string[] {
  return [...exposed.map(exposedText), ...(unknown.length === 0 ? [] : [unknownText(unknown)])]
}
