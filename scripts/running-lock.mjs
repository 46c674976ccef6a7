// The part of package-lock.json that runs with real money: what the program needs, without what only development needs.
// Plain JavaScript, Node 20.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

/**
 * package.json as it is published. npm follows npm-shrinkwrap.json only where a package comes from a registry, so every version
 * is named here as well: a tarball brings the same ones. Of a package that runs in two versions only one can be named; npm then takes the
 * other one within the range of what needs it.
 */
export function publishedManifest() {
  const { devDependencies: _, overrides: __, scripts: ___, ...manifest } = readJson('package.json')
  const names = { dependencies: {}, optionalDependencies: {} }
  for (const [path, { version, optional }] of runningPackages()) {
    const name = path.slice('node_modules/'.length)
    if (name.includes('node_modules/')) continue
    names[optional ? 'optionalDependencies' : 'dependencies'][name] = version
  }
  return { ...manifest, ...names }
}

/** In npm's own form: exactly the versions that were tested, each with its hash and without the host it came from. */
export function publishedLock() {
  const { name, version, lockfileVersion } = readJson('package-lock.json')
  const { license, bin, engines, dependencies, optionalDependencies } = publishedManifest()
  const root = { name, version, license, dependencies, bin, engines, optionalDependencies }
  const packages = Object.fromEntries([['', root], ...runningPackages()])
  return { name, version, lockfileVersion, requires: true, packages }
}

export function readJson(name) {
  return JSON.parse(readFileSync(`${ROOT}${name}`, 'utf8'))
}

/** What the program needs, and what that needs, by its path in the lock. */
function runningPackages() {
  const { packages } = readJson('package-lock.json')
  const found = new Set()
  const open = [['', { dependencies: readJson('package.json').dependencies }]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [from, manifest] = next
    for (const { name, isOptional } of needsOf(manifest)) {
      const path = resolvedFrom(from, name, packages)
      if (path === undefined && !isOptional) throw new Error(`package-lock.json has no ${name}: run npm install`)
      if (path === undefined || found.has(path)) continue
      found.add(path)
      open.push([path, packages[path]])
    }
  }
  return [...found].sort().map((path) => [path, publishedPackage(packages[path])])
}

function needsOf({ dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} }) {
  // An optional peer comes along only where something else needs it.
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)
  return [
    ...[...Object.keys(dependencies), ...peers].map((name) => ({ name, isOptional: false })),
    ...Object.keys(optionalDependencies).map((name) => ({ name, isOptional: true })),
  ]
}

/** As Node looks for it: beside the package that needs it, then in every folder above. */
function resolvedFrom(from, name, packages) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (packages[path] !== undefined) return path
    if (folder === '') return undefined
  }
}

function publishedPackage({ resolved: _, dev: __, devOptional: ___, peer: ____, ...one }) {
  return one
}
