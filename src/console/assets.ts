// What pages load beside themselves: few files, read once, and named by their content. There is no path to walk.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Pages } from './door.ts'

const TYPES = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' } as const
const FILES = ['console.css', 'console.js'] as const
type FileName = (typeof FILES)[number]

interface Asset {
  readonly path: string
  readonly type: string
  readonly text: string
}

const ASSETS = new Map(FILES.map((name) => [name, read(name)]))
const BY_PATH = new Map([...ASSETS.values()].map((asset) => [asset.path, asset]))

function read(name: FileName): Asset {
  const [stem, kind] = name.split('.') as [string, keyof typeof TYPES]
  const text = readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8')
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12)
  return { path: `/assets/${stem}.${hash}.${kind}`, type: TYPES[kind], text }
}

export function assetPath(name: FileName): string {
  return (ASSETS.get(name) as Asset).path
}

export function addAssets(pages: Pages): void {
  pages.get<{ Params: { name: string } }>('/assets/:name', { config: { page: 'asset' } }, async ({ params }, reply) => {
    const asset = BY_PATH.get(`/assets/${params.name}`)
    if (asset === undefined) return reply.code(404).send()
    // By whatever name it is asked for, it is that content.
    reply.header('cache-control', 'public, max-age=31536000, immutable')
    return reply.type(asset.type).send(asset.text)
  })
}
