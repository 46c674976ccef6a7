// What this program is made of, for those who must know: writes a software bill of materials (CycloneDX) of what runs with
// real money, and fails where the lock or a known weakness says that it should not be installed. Plain JavaScript, Node 20.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishedLock, publishedManifest, ROOT, readJson } from './running-lock.mjs'

const BILL = 'sbom.cdx.json'
/** Of what runs with real money; what is used for development only may have others. */
const LICENCES = ['MIT', 'ISC', 'Apache-2.0', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause']

const { allowScripts } = readJson('package.json')
const packages = Object.entries(readJson('package-lock.json').packages).filter(([path]) => path !== '')
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

const bill = billOfMaterials()
const components = bill?.components
if (components === undefined) faults.push('npm sbom wrote no bill of materials')
else {
  writeFileSync(`${ROOT}${BILL}`, `${JSON.stringify(bill, null, 2)}\n`)
  say(`${BILL}: ${components.length} packages run with real money, ${packages.length} in all`)
}

const audit = npm(ROOT, 'audit', '--omit', 'dev')
const known = audit?.metadata?.vulnerabilities
if (known === undefined) say(`NOT ASKED for known weaknesses: ${audit?.message ?? 'npm audit gave no answer'}`)
else if (known.high + known.critical > 0)
  faults.push(
    `npm audit knows ${known.high + known.critical} weaknesses that are high or critical: npm audit --omit=dev`,
  )
else say(`no weakness known that is high or critical; ${known.total} in all`)

for (const fault of faults) say(`FIX ${fault}`)
process.exitCode = faults.length === 0 ? 0 : 1

/** From the lock of what is published. npm leaves out what development needs as well, or counts what is installed by chance. */
function billOfMaterials() {
  const made = mkdtempSync(join(tmpdir(), 'tranche-bill-'))
  const directory = join(made, 'tranche') // npm takes the name from there
  try {
    mkdirSync(directory)
    writeFileSync(join(directory, 'package.json'), JSON.stringify(publishedManifest()))
    writeFileSync(join(directory, 'package-lock.json'), JSON.stringify(publishedLock()))
    return npm(directory, 'sbom', '--sbom-format', 'cyclonedx', '--package-lock-only')
  } finally {
    rmSync(made, { recursive: true })
  }
}

/** What npm answers, also where it ends with an error; undefined: nothing that can be read. */
function npm(cwd, ...args) {
  const { stdout } = spawnSync('npm', [...args, '--json'], { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  try {
    return JSON.parse(stdout)
  } catch {
    return undefined
  }
}

function say(line) {
  process.stderr.write(`${line}\n`)
}
