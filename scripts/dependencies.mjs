// What this program is made of, for those who must know: writes a software bill of materials (CycloneDX) of what runs with
// real money, and fails where the lock or a known weakness says that it should not be installed. Plain JavaScript, Node 20.

import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BILL = 'sbom.cdx.json'
/** Of what runs with real money; what is used for development only may have others. */
const LICENCES = ['MIT', 'ISC', 'Apache-2.0', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause']

const lock = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8'))
const { allowScripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))
const packages = Object.entries(lock.packages).filter(([path]) => path !== '')
const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

const faults = packages.flatMap(([path, one]) => {
  const name = `${nameOf(path)}@${one.version}`
  return [
    ...(one.integrity?.startsWith('sha512-') ? [] : [`${name} has no SHA-512 in the lock`]),
    ...(one.resolved === undefined ? [] : [`${name} names the host it came from in the lock`]),
    ...(one.hasInstallScript && allowScripts[nameOf(path)] === undefined
      ? [`${name} runs a script at installation that package.json neither allows nor denies`]
      : []),
    ...(one.dev || LICENCES.includes(one.license) ? [] : [`${name} has the licence ${one.license}`]),
  ]
})

const bill = npm('sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev')
const components = bill?.components
if (components === undefined) faults.push('npm sbom wrote no bill of materials')
else {
  writeFileSync(`${ROOT}${BILL}`, `${JSON.stringify(bill, null, 2)}\n`)
  say(`${BILL}: ${components.length} packages run with real money, ${packages.length} in all`)
}

const audit = npm('audit', '--omit', 'dev')
const known = audit?.metadata?.vulnerabilities
if (known === undefined) say(`NOT ASKED for known weaknesses: ${audit?.message ?? 'npm audit gave no answer'}`)
else if (known.high + known.critical > 0)
  faults.push(
    `npm audit knows ${known.high + known.critical} weaknesses that are high or critical: npm audit --omit=dev`,
  )
else say(`no weakness known that is high or critical; ${known.total} in all`)

for (const fault of faults) say(`FIX ${fault}`)
process.exitCode = faults.length === 0 ? 0 : 1

/** What npm answers, also where it ends with an error; undefined: nothing that can be read. */
function npm(...args) {
  const { stdout } = spawnSync('npm', [...args, '--json'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  try {
    return JSON.parse(stdout)
  } catch {
    return undefined
  }
}

function say(line) {
  process.stderr.write(`${line}\n`)
}
