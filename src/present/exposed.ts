// A file of the configuration that other users reach, and how to end that.

interface Exposed {
  readonly path: string
  readonly by: 'read' | 'write'
}

export function exposedText({ path, by }: Exposed): string {
  return by === 'read'
    ? `other users of this machine can read ${path}, which holds a secret (chmod 600 ${path})`
    : `other users of this machine can change ${path}, which says where passwords are sent (chmod go-w ${path})`
}
