// What the environment and TRANCHE_CONFIG mean, and that every mistake in them is named at once.

import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { format, inspect } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { parseListenAddress } from '../../src/config/listening.ts'
import { Fault } from '../../src/domain/fault.ts'
import { merchantOf } from '../../src/domain/merchant.ts'
import { AUTHORITY, CERTIFICATE, KEY, OF_A_CLIENT } from '../fixtures/certificate.ts'

const HOME = '/home/clerk'
const READING = { reads: true, credentials: false }
const GATEWAY = {
  TRANCHE_GATEWAY_URL: 'https://gateway.example/base/',
  TRANCHE_GATEWAY_USERNAME: 'shop-1',
  TRANCHE_GATEWAY_PASSWORD: 'open sesame',
}

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tranche-config-'))
})
afterAll(() => rmSync(dir, { recursive: true }))

function file(name: string, text: string): string {
  const path = join(dir, name)
  writeFileSync(path, text)
  return path
}

/** The lines of the fault, one per mistake. */
async function mistakesOf(env: NodeJS.ProcessEnv, homeDir = HOME): Promise<string[]> {
  const error = await loadConfig(env, homeDir).then(
    () => expect.unreachable('the configuration was taken'),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(Fault)
  expect(error).toMatchObject({ code: 'config' })
  const [, ...lines] = (error as Fault).message.split('\n')
  return lines.map((line) => line.trim())
}

describe('the environment', () => {
  test('names variables that look like settings and are none', async () => {
    const env = { TRANCHE_RAT: '5', TRANCHE_RATE: '5', TRANCHE_CI_BOUNDED: '1', XTRANCHE_A: '1' }
    expect((await loadConfig(env, '/home/x')).unknown).toEqual(['TRANCHE_RAT (did you mean TRANCHE_RATE?)'])
  })

  test('a mistake is noted for what only reads the ledger, unless it says where the ledger is', async () => {
    const { mistakes, dataDir } = await loadConfig({ TRANCHE_RATE: 'fast', TRANCHE_DATA_DIR: '/srv/t' }, HOME, READING)
    expect([mistakes, dataDir]).toEqual([[expect.stringMatching(/^TRANCHE_RATE must be .*"fast"$/)], '/srv/t'])
    for (const name of ['TRANCHE_DATA_DIR', 'XDG_STATE_HOME', 'TRANCHE_WITNESS_DIR'])
      await expect(loadConfig({ [name]: 'not/absolute' }, HOME, READING)).rejects.toMatchObject({ code: 'config' })
  })

  test('an empty environment gives the defaults and no merchant', async () => {
    const config = await loadConfig({}, HOME)
    expect(config).toEqual({
      dataDir: '/home/clerk/.local/state/tranche',
      mistakes: [],
      witnessDirs: ['/home/clerk/.cache/tranche', `/var/tmp/tranche-${process.getuid?.()}`],
      witnessNamed: false,
      accountMarksDirs: ['/var/tmp/tranche-accounts'],
      exposed: [],
      unknown: [],
      ledgerServer: null,
      redisUrl: null,
      redisPrefix: 'bull',
      doubtRestMs: 900_000,
      logLevel: null,
      metricsAddress: null,
      serving: { publicUrl: null, trustedProxies: [], uploadBytesMost: 200 * 1024 * 1024 },
      merchants: new Map(),
      approvals: null,
      identityProvider: null,
    })
    expect(Object.isFrozen(config)).toBe(true)
  })

  test.each(['…', '...', ' … '])('a value that was pasted from a document as %s is refused by name', async (dots) => {
    const env = { ...GATEWAY, TRANCHE_GATEWAY_USERNAME: dots, TRANCHE_RATE: dots }
    const path = file('dots', dots)
    const says = 'is an ellipsis, as examples have it: write the value that belongs there'
    const mistakes = await mistakesOf(env)
    expect(mistakes).toEqual([`TRANCHE_RATE ${says}`, `TRANCHE_GATEWAY_USERNAME ${says}`])
    const { TRANCHE_GATEWAY_PASSWORD: _, ...rest } = GATEWAY
    expect(await mistakesOf({ ...rest, TRANCHE_GATEWAY_PASSWORD_FILE: path })).toEqual([
      `TRANCHE_GATEWAY_PASSWORD_FILE names ${path}, whose text ${says}`,
    ])
    const merchants = `merchants: {acme: {url: "https://gateway.example", username: "${dots}", password_file: ${file('any.password', 'hush-hush')}}}`
    expect(await mistakesOf({ TRANCHE_CONFIG: file('dots.yaml', merchants) })).toEqual([
      `TRANCHE_CONFIG merchants.acme.username: ${says}`,
    ])
  })

  test('a gateway address, username and password make the default merchant', async () => {
    const config = await loadConfig(GATEWAY, HOME)
    const merchant = merchantOf(config, 'default')
    expect(merchant).toMatchObject({
      name: 'default',
      url: 'https://gateway.example/base',
      username: 'shop-1',
      ratePerSecond: null,
      inFlightMax: 32,
      timeoutMs: 60_000,
      connections: 'fresh',
      notExecutedStatus: [],
      deleteAnswer: 'status' as const,
      refundParameter: 'transaction_type',
      charset: 'utf-8',
      currency: null,
      decimal: null,
      lookalikeDays: 20,
    })
    expect(merchant.password?.reveal()).toBe('open sesame')
    expect(Object.isFrozen(merchant)).toBe(true)
  })

  describe('a PostgreSQL server for the ledger', () => {
    const SERVER = { ...GATEWAY, TRANCHE_LEDGER_URL: 'postgres://clerk:s3cret@db.example/books' }
    const serverOf = async (env: NodeJS.ProcessEnv) => (await loadConfig({ ...SERVER, ...env }, HOME)).ledgerServer

    test('is reached with TLS, and named without its password', async () => {
      const server = await serverOf({})
      expect(server).toMatchObject({ schema: 'tranche', failover: 'none', tls: { ca: null }, directUrl: null })
      expect(server?.name).toBe('postgres://db.example/books (schema tranche)')
      expect(server?.url.reveal()).toBe('postgres://clerk:s3cret@db.example/books')
      expect(JSON.stringify(server)).not.toContain('s3cret')
    })

    test('may be named in a file, with a schema, a failover mode, an authority and a way past its pooler', async () => {
      const [url, ca] = [join(dir, 'ledger_url'), join(dir, 'ca.pem')]
      writeFileSync(url, 'postgres://clerk:from-a-file@db.example/books\n', { mode: 0o600 })
      writeFileSync(ca, AUTHORITY)
      const server = await serverOf({
        TRANCHE_LEDGER_URL: undefined,
        TRANCHE_LEDGER_URL_FILE: url,
        TRANCHE_LEDGER_SCHEMA: 'shop_2',
        TRANCHE_POSTGRES_FAILOVER: 'synchronous',
        TRANCHE_POSTGRES_CA_FILE: ca,
        TRANCHE_POSTGRES_DIRECT_URL: 'postgres://clerk@db.example:6432/books',
      })
      expect(server).toMatchObject({ schema: 'shop_2', failover: 'synchronous', tls: { ca: AUTHORITY } })
      expect(server?.url.reveal()).toContain('from-a-file')
      expect(server?.directUrl?.reveal()).toContain(':6432/')
    })

    test.each([
      'postgres://clerk@127.0.0.1/books',
      'postgres://clerk@localhost/books',
      'postgres:///books?host=/run/pg',
    ])('on this machine needs no TLS: %s', async (address) =>
      expect((await serverOf({ TRANCHE_LEDGER_URL: address }))?.tls).toBe(null),
    )

    test('with an empty host is the one that the client will take, whatever PGHOST says', async () => {
      expect(await serverOf({ TRANCHE_LEDGER_URL: 'postgres://db.example/books?host=' })).toMatchObject({ tls: {} })
      const server = await serverOf({ TRANCHE_LEDGER_URL: 'postgres:///books' })
      expect([server?.tls, server?.url.reveal()]).toEqual([null, 'postgres:///books?host=localhost'])
    })

    test('is spoken to in the clear only where a person says so', async () => {
      expect((await serverOf({ TRANCHE_POSTGRES_PLAINTEXT: 'yes' }))?.tls).toBe(null)
    })

    test.each([
      [{ TRANCHE_LEDGER_URL: 'mysql://clerk:s3cret@db.example/books' }, 'must be an address such as'],
      [{ TRANCHE_LEDGER_URL: 'postgres://clerk:s3cret@db.example' }, 'must name the database'],
      [{ TRANCHE_LEDGER_URL: `${SERVER.TRANCHE_LEDGER_URL}?sslmode=disable` }, 'must not say sslmode'],
      [
        { TRANCHE_LEDGER_URL: 'postgres://clerk:s3cret@localhost/books?host=%2Ftmp&host=db.example' },
        'must name each parameter once',
      ],
      [{ TRANCHE_LEDGER_SCHEMA: 'Shop; DROP' }, 'must be of small letters'],
      [{ TRANCHE_POSTGRES_FAILOVER: 'sometimes' }, 'TRANCHE_POSTGRES_FAILOVER'],
      [{ TRANCHE_POSTGRES_CA_FILE: '/nowhere/ca.pem' }, 'TRANCHE_POSTGRES_CA_FILE'],
      [
        { TRANCHE_LEDGER_URL: undefined, TRANCHE_POSTGRES_DIRECT_URL: 'postgres://clerk@db.example/books' },
        'is set without TRANCHE_LEDGER_URL',
      ],
    ])('is refused where its settings are wrong: %o', async (wrong, says) => {
      const mistakes = (await mistakesOf({ ...SERVER, ...wrong })).join('; ')
      expect(mistakes).toContain(says)
      expect(mistakes).not.toContain('s3cret')
    })
  })

  test('every setting is taken from its variable', async () => {
    const config = await loadConfig(
      {
        ...GATEWAY,
        TRANCHE_DATA_DIR: '/var/lib/tranche',
        TRANCHE_REDIS_URL: 'rediss://:secret@redis.example:6379/2',
        TRANCHE_REDIS_PREFIX: '{shop}',
        TRANCHE_RATE: '2.5',
        TRANCHE_IN_FLIGHT: '8',
        TRANCHE_TIMEOUT_MS: '30000',
        TRANCHE_CONNECTIONS: 'warm',
        TRANCHE_DOUBT_REST_MS: '60000',
        TRANCHE_LOG_LEVEL: 'debug',
        TRANCHE_METRICS: '[::1]:9464',
      },
      HOME,
    )
    expect(config).toMatchObject({
      dataDir: '/var/lib/tranche',
      redisPrefix: '{shop}',
      doubtRestMs: 60_000,
      logLevel: 'debug',
      metricsAddress: { host: '::1', port: 9464 },
    })
    expect(config.redisUrl?.reveal()).toBe('rediss://:secret@redis.example:6379/2')
    expect(merchantOf(config, 'default')).toMatchObject({
      ratePerSecond: 2.5,
      inFlightMax: 8,
      timeoutMs: 30_000,
      connections: 'warm',
    })
  })

  test.each([
    ['9464', { host: '127.0.0.1', port: 9464 }],
    ['localhost:0', { host: '127.0.0.1', port: 0 }],
    ['0.0.0.0:9464', { host: '0.0.0.0', port: 9464 }],
    ['[::1]:65535', { host: '::1', port: 65_535 }],
  ])('figures are shown at %s', (text, expected) => {
    expect(parseListenAddress(text)).toEqual(expected)
  })

  test.each([
    ':9464',
    '127.0.0.1',
    '127.0.0.1:65536',
    '256.0.0.1:1',
    '[127.0.0.1]:1',
    '::1:9464',
    'host.example:9464',
    '[::z]:1',
  ])('%s is no address to show figures at', (text) => {
    expect(parseListenAddress(text)).toBe(null)
  })

  test('secrets are read from the files that _FILE names, without the line end', async () => {
    const config = await loadConfig(
      {
        TRANCHE_GATEWAY_URL: 'https://gateway.example',
        TRANCHE_GATEWAY_USERNAME_FILE: file('username', 'shop-1\n'),
        TRANCHE_GATEWAY_PASSWORD_FILE: file('password', ' with blanks \r\n'),
        TRANCHE_REDIS_URL_FILE: file('redis', 'rediss://redis.example\n'),
      },
      HOME,
    )
    expect(merchantOf(config, 'default').username).toBe('shop-1')
    expect(merchantOf(config, 'default').password?.reveal()).toBe(' with blanks ')
    expect(config.redisUrl?.reveal()).toBe('rediss://redis.example')
  })

  test('the record lives under XDG_STATE_HOME where that is set, and an empty one is as none', async () => {
    expect(await loadConfig({ XDG_STATE_HOME: '/srv/state' }, HOME)).toMatchObject({ dataDir: '/srv/state/tranche' })
    expect(await loadConfig({ XDG_STATE_HOME: '' }, HOME)).toMatchObject({
      dataDir: '/home/clerk/.local/state/tranche',
    })
  })

  test('marks of accounts are for the whole machine and beside a named witness, of trials only there', async () => {
    const dirsOf = async (dir: string, env: NodeJS.ProcessEnv = {}) =>
      (await loadConfig({ ...env, TRANCHE_WITNESS_DIR: dir }, HOME)).accountMarksDirs
    expect(await dirsOf('/srv/witness')).toEqual(['/srv/witness/accounts', '/var/tmp/tranche-accounts'])
    expect(await dirsOf('/tmp/w')).toEqual(['/tmp/w/accounts'])
    expect(await dirsOf('/srv/trial/w', { TMPDIR: '/srv/trial' })).toEqual(['/srv/trial/w/accounts'])
    expect(await dirsOf('none')).toEqual([])
  })

  test('the witness is kept among the caches or where a person says, never in the data directory', async () => {
    const placesOf = async (env: NodeJS.ProcessEnv) => (await loadConfig(env, HOME)).witnessDirs
    const system = `/var/tmp/tranche-${process.getuid?.()}`
    expect(await placesOf({ XDG_CACHE_HOME: '/srv/cache' })).toEqual(['/srv/cache/tranche', system])
    expect(await placesOf({ TRANCHE_WITNESS_DIR: '/srv/witness' })).toEqual(['/srv/witness'])
    expect(await placesOf({ TRANCHE_WITNESS_DIR: 'none' })).toEqual([])
    expect(await placesOf({ TRANCHE_DATA_DIR: HOME })).toEqual([system])
    expect(await placesOf({ TRANCHE_DATA_DIR: '/var' })).toEqual(['/home/clerk/.cache/tranche'])
    for (const [dir, problem] of [
      ['witness', 'must be an absolute path, or none, not "witness"'],
      ['/srv/data/witness', 'must lie outside the data directory'],
    ]) {
      const mistakes = await mistakesOf({ TRANCHE_DATA_DIR: '/srv/data', TRANCHE_WITNESS_DIR: dir })
      expect(mistakes).toContain(`TRANCHE_WITNESS_DIR ${problem}`)
    }
  })

  test('every mistake is reported at once, by the name of its variable', async () => {
    const mistakes = await mistakesOf({
      TRANCHE_GATEWAY_URL: 'gateway.example',
      TRANCHE_GATEWAY_USERNAME: 'shop-1',
      TRANCHE_GATEWAY_USERNAME_FILE: '/run/secrets/username',
      TRANCHE_GATEWAY_PASSWORD_FILE: join(dir, 'nowhere'),
      TRANCHE_REDIS_URL: 'http://redis.example',
      TRANCHE_REDIS_PREFIX: 'two words',
      TRANCHE_DATA_DIR: 'state',
      TRANCHE_RATE: '0',
      TRANCHE_IN_FLIGHT: '1001',
      TRANCHE_TIMEOUT_MS: '60s',
      TRANCHE_CONNECTIONS: 'lukewarm',
      TRANCHE_DOUBT_REST_MS: '-1',
      TRANCHE_LOG_LEVEL: '',
      TRANCHE_CONFIG: join(dir, 'nowhere.yaml'),
    })
    expect(new Set(mistakes.map((line) => line.split(' ')[0]))).toEqual(
      new Set([
        'TRANCHE_CONFIG',
        'TRANCHE_CONNECTIONS',
        'TRANCHE_DATA_DIR',
        'TRANCHE_DOUBT_REST_MS',
        'TRANCHE_GATEWAY_PASSWORD_FILE',
        'TRANCHE_GATEWAY_URL',
        'TRANCHE_GATEWAY_USERNAME',
        'TRANCHE_IN_FLIGHT',
        'TRANCHE_LOG_LEVEL',
        'TRANCHE_RATE',
        'TRANCHE_REDIS_PREFIX',
        'TRANCHE_REDIS_URL',
        'TRANCHE_TIMEOUT_MS',
      ]),
    )
    expect(mistakes).toHaveLength(13)
    expect(mistakes).toContain('TRANCHE_IN_FLIGHT must be a whole number from 1 to 1000, not "1001"')
    expect(mistakes).toContain(
      `TRANCHE_GATEWAY_PASSWORD_FILE names ${join(dir, 'nowhere')}, which cannot be read (ENOENT)`,
    )
  })

  test('a merchant that is described in part names what is missing', async () => {
    expect(await mistakesOf({ TRANCHE_GATEWAY_USERNAME: 'shop-1' })).toEqual([
      'TRANCHE_GATEWAY_URL is missing',
      'TRANCHE_GATEWAY_PASSWORD is missing (or TRANCHE_GATEWAY_PASSWORD_FILE)',
    ])
  })

  test.each([
    ['empty', '', 'which is empty'],
    ['two-lines', 'one\ntwo\n', 'which holds more than one line'],
  ])('a secret file that is %s is a mistake', async (name, text, said) => {
    const path = file(name, text)
    const { TRANCHE_GATEWAY_PASSWORD: _, ...rest } = GATEWAY
    expect(await mistakesOf({ ...rest, TRANCHE_GATEWAY_PASSWORD_FILE: path })).toEqual([
      `TRANCHE_GATEWAY_PASSWORD_FILE names ${path}, ${said}`,
    ])
  })

  test('authority and client certificate of a gateway are read from their files', async () => {
    const files = {
      TRANCHE_GATEWAY_CA_FILE: file('ca.pem', `# ours\n${AUTHORITY}${CERTIFICATE}`),
      TRANCHE_GATEWAY_CLIENT_CERT_FILE: file('client.pem', OF_A_CLIENT),
      TRANCHE_GATEWAY_CLIENT_KEY_FILE: file('client.key', KEY),
    }
    for (const path of Object.values(files)) chmodSync(path, 0o644)
    const config = await loadConfig({ ...GATEWAY, ...files }, HOME)
    const { trust } = merchantOf(config, 'default')
    expect(config.exposed).toEqual([{ path: files.TRANCHE_GATEWAY_CLIENT_KEY_FILE, by: 'read' }])
    expect(trust).toMatchObject({ ca: expect.stringContaining(AUTHORITY), clientCert: OF_A_CLIENT })
    expect(trust.clientKey?.reveal()).toBe(KEY)
    expect(format('%o %j', trust, trust)).not.toContain('PRIVATE KEY')
    expect(merchantOf(await loadConfig(GATEWAY, HOME), 'default').trust).toEqual({
      ca: null,
      clientCert: null,
      clientKey: null,
    })
  })

  test('what such a file lacks is a mistake', async () => {
    const [ca, cert, key] = [file('ca.pem', 'AUTHORITY'), file('client.pem', OF_A_CLIENT), file('client.key', KEY)]
    const other = file(
      'other.key',
      generateKeyPairSync('ec', {
        namedCurve: 'P-256',
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
        publicKeyEncoding: { type: 'spki', format: 'pem' },
      }).privateKey,
    )
    const mistakes = (files: NodeJS.ProcessEnv) => mistakesOf({ ...GATEWAY, ...files })
    expect(await mistakes({ TRANCHE_GATEWAY_CA_FILE: ca })).toEqual([
      `TRANCHE_GATEWAY_CA_FILE names ${ca}, which holds no certificate in PEM`,
    ])
    expect(await mistakes({ TRANCHE_GATEWAY_CA_FILE: '', TRANCHE_GATEWAY_CLIENT_CERT_FILE: cert })).toEqual([
      'TRANCHE_GATEWAY_CA_FILE is empty: give it a value or take it away',
      'TRANCHE_GATEWAY_CLIENT_KEY_FILE is missing: TRANCHE_GATEWAY_CLIENT_CERT_FILE needs it',
    ])
    expect(await mistakes({ TRANCHE_GATEWAY_CLIENT_KEY_FILE: key })).toEqual([
      'TRANCHE_GATEWAY_CLIENT_CERT_FILE is missing: TRANCHE_GATEWAY_CLIENT_KEY_FILE needs it',
    ])
    expect(await mistakes({ TRANCHE_GATEWAY_CLIENT_CERT_FILE: key, TRANCHE_GATEWAY_CLIENT_KEY_FILE: cert })).toEqual([
      `TRANCHE_GATEWAY_CLIENT_CERT_FILE names ${key}, which holds no certificate in PEM`,
      `TRANCHE_GATEWAY_CLIENT_KEY_FILE names ${cert}, which holds no private key without a passphrase in PEM`,
    ])
    expect(await mistakes({ TRANCHE_GATEWAY_CLIENT_CERT_FILE: cert, TRANCHE_GATEWAY_CLIENT_KEY_FILE: other })).toEqual([
      'TRANCHE_GATEWAY_CLIENT_KEY_FILE is not the key of TRANCHE_GATEWAY_CLIENT_CERT_FILE',
    ])
    expect(await mistakesOf({ TRANCHE_GATEWAY_CA_FILE: file('right.pem', AUTHORITY) })).toHaveLength(3)
  })

  test('a password that could not be kept out of a log is a mistake', async () => {
    const said = 'TRANCHE_GATEWAY_PASSWORD has fewer than 4 characters'
    expect(await mistakesOf({ ...GATEWAY, TRANCHE_GATEWAY_PASSWORD: 'abc' })).toEqual([expect.stringContaining(said)])
  })

  test('a relative home leaves no place for the record', async () => {
    expect(await mistakesOf({}, '')).toEqual([expect.stringContaining('TRANCHE_DATA_DIR must be an absolute path')])
    expect(await mistakesOf({ XDG_STATE_HOME: 'state' })).toEqual([expect.stringMatching(/^XDG_STATE_HOME must be/)])
  })

  test.each(['0', '0.0', '-1', '1e3', 'ten', '.5', '5.', '1,5', 'Infinity'])('the rate %s is refused', async (rate) => {
    expect(await mistakesOf({ TRANCHE_RATE: rate })).toEqual([expect.stringMatching(/^TRANCHE_RATE /)])
  })
})

describe('the gateway address', () => {
  const urlOf = async (url: string) =>
    merchantOf(await loadConfig({ ...GATEWAY, TRANCHE_GATEWAY_URL: url }, HOME), 'default').url

  test.each([
    ['https://gateway.example/', 'https://gateway.example'],
    ['HTTPS://Gateway.Example:443//', 'https://gateway.example'],
    ['https://gateway.example/shop/', 'https://gateway.example/shop'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://localhost:8080/', 'http://localhost:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ])('%s is read as %s', async (written, read) => {
    expect(await urlOf(written)).toBe(read)
  })

  test.each([
    ['http://gateway.example', 'https'],
    ['http://localhost.gateway.example', 'https'],
    ['http://10.0.0.1', 'https'],
    ['ftp://gateway.example', 'absolute'],
    ['https:gateway.example', 'absolute'],
    ['/api', 'absolute'],
    ['https://u:hush@gateway.example', 'username or password'],
    ['https://gateway.example/?', 'query'],
    ['https://gateway.example/#', 'fragment'],
    ['https://gateway.example/api/transaction/api', 'base address'],
  ])('%s is refused', async (url, said) => {
    const mistakes = await mistakesOf({ ...GATEWAY, TRANCHE_GATEWAY_URL: url })
    expect(mistakes).toEqual([expect.stringMatching(new RegExp(`^TRANCHE_GATEWAY_URL .*${said}`))])
    expect(mistakes.join()).not.toContain('hush')
  })
})

describe('TRANCHE_CONFIG', () => {
  test('lists merchants, with paths relative to the file and limits from the environment', async () => {
    file('acme.password', 'hush\n')
    file('beta.username', 'beta\n')
    const path = file(
      'tranche.yaml',
      `merchants:
  acme:
    url: https://gateway.example/
    username: acme
    password_file: acme.password
    rate: 0.5
    in_flight: 4
    timeout_ms: 5000
    connections: warm
    not_executed_status: [503]
    refund_parameter: request_action
    charset: iso-8859-1,*, utf-8
    currency: eur
    decimal: ","
    lookalike_days: 7
    authorization_days: 10
    refund_days: 180
    environment: live
    daily_limit: {EUR: "50000.00", JPY: "900"}
    timezone: Europe/Berlin
    reason_categories:
      - {match: kontolimit, category: funds}
      - {match: "(51)", category: funds}
  beta:
    url: https://gateway.example
    username_file: beta.username
    password_file: ${join(dir, 'acme.password')}
`,
    )
    const config = await loadConfig({ ...GATEWAY, TRANCHE_CONFIG: path, TRANCHE_RATE: '10' }, HOME)
    expect([...config.merchants.keys()]).toEqual(['default', 'acme', 'beta'])
    expect(merchantOf(config, 'acme')).toMatchObject({
      url: 'https://gateway.example',
      username: 'acme',
      ratePerSecond: 0.5,
      inFlightMax: 4,
      timeoutMs: 5000,
      connections: 'warm',
      notExecutedStatus: [503],
      deleteAnswer: 'status' as const,
      refundParameter: 'request_action',
      charset: 'iso-8859-1,*, utf-8',
      currency: 'EUR',
      decimal: ',',
      lookalikeDays: 7,
      authorizationDays: 10,
      refundDays: 180,
      environment: 'live',
      dailyLimits: {
        amounts: new Map([
          ['EUR', 5_000_000n],
          ['JPY', 900n],
        ]),
        timeZone: 'Europe/Berlin',
      },
      reasonRules: [
        { match: 'kontolimit', category: 'funds' },
        { match: '(51)', category: 'funds' },
      ],
    })
    expect(merchantOf(config, 'acme').password?.reveal()).toBe('hush')
    expect(merchantOf(config, 'beta')).toMatchObject({ username: 'beta', ratePerSecond: 10, lookalikeDays: 20 })
    expect(merchantOf(config, 'beta')).toMatchObject({ authorizationDays: 7, refundDays: null })
    expect(merchantOf(config, 'beta')).toMatchObject({ environment: null, dailyLimits: null })
  })

  test('names every mistake in labels and limits', async () => {
    file('a.password', 'hush\n')
    const path = file(
      'limits.yaml',
      `merchants:
  acme:
    url: https://gateway.example
    username: acme
    password_file: a.password
    environment: prod
    daily_limit: {EUR: "1,000.00", JPY: "10.00", XXQ: "1.00", USD: "0.00", GBP: 5}
    timezone: Berlin
`,
    )
    const mistakes = await mistakesOf({ TRANCHE_CONFIG: path })
    for (const setting of ['environment', 'timezone', 'daily_limit.GBP'])
      expect(mistakes).toContainEqual(expect.stringContaining(`merchants.acme.${setting}: `))
    file('limits.yaml', (await import('node:fs')).readFileSync(path, 'utf8').replace(', GBP: 5', ''))
    for (const currency of ['EUR', 'JPY', 'XXQ', 'USD'])
      expect(await mistakesOf({ TRANCHE_CONFIG: path })).toContainEqual(
        expect.stringMatching(new RegExp(`merchants\\.acme\\.daily_limit\\.${currency}: is not an? (amount|currency)`)),
      )
    expect(await mistakesOf({ ...GATEWAY, TRANCHE_ENVIRONMENT: 'prod' })).toEqual([
      expect.stringMatching(/^TRANCHE_ENVIRONMENT must be one of live, test/),
    ])
    const own = await loadConfig({ ...GATEWAY, TRANCHE_ENVIRONMENT: 'test' }, HOME)
    expect(merchantOf(own, 'default').environment).toBe('test')
  })

  test('names the authority of each gateway, and every mistake in that', async () => {
    file('some.password', 'hush')
    file('short.password', 'abc')
    file('authority.pem', AUTHORITY)
    const merchant = 'url: https://gateway.example\n    username'
    const path = file(
      'trust.yaml',
      `merchants:
  acme:
    ${merchant}: acme
    password_file: some.password
    ca_file: authority.pem
`,
    )
    const { trust } = merchantOf(await loadConfig({ TRANCHE_CONFIG: path }, HOME), 'acme')
    expect(trust).toEqual({ ca: AUTHORITY, clientCert: null, clientKey: null })
    const wrong = file(
      'no-trust.yaml',
      `merchants:
  acme:
    ${merchant}: acme
    password_file: short.password
    ca_file: some.password
    client_key_file: nowhere.pem
`,
    )
    expect(new Set(await mistakesOf({ TRANCHE_CONFIG: wrong }))).toEqual(
      new Set([
        expect.stringMatching(/merchants\.acme\.password_file: has fewer than 4 characters/),
        expect.stringMatching(/merchants\.acme\.ca_file: names .*some\.password, which holds no certificate in PEM/),
        expect.stringMatching(
          /merchants\.acme\.client_key_file: names .*nowhere\.pem, which cannot be read \(ENOENT\)/,
        ),
        expect.stringMatching(/merchants\.acme\.client_cert_file: is missing: client_key_file needs it/),
      ]),
    )
  })

  test('every mistake in it is reported at once with those of the environment', async () => {
    const path = file(
      'wrong.yaml',
      `shops: {}
merchants:
  default:
    url: http://gateway.example
    username: one
    password: hush
    rate:
  "no blanks":
    url: https://gateway.example
    username: two
    username_file: two
    password_file: nowhere
    not_executed_status: [200]
    currency: XYZ
    timeout: 5
`,
    )
    const mistakes = await mistakesOf({ ...GATEWAY, TRANCHE_CONFIG: path, TRANCHE_IN_FLIGHT: '0' })
    const named = mistakes.map((line) => /^(\S+(?: \(\S+\) \w+| merchants[^:]*)?)/.exec(line)?.[1])
    expect(new Set(named)).toEqual(
      new Set([
        `TRANCHE_CONFIG (${path}) shops`,
        'TRANCHE_CONFIG merchants.default',
        'TRANCHE_CONFIG merchants.default.password',
        'TRANCHE_CONFIG merchants.default.password_file',
        'TRANCHE_CONFIG merchants.default.rate',
        'TRANCHE_CONFIG merchants.default.url',
        'TRANCHE_CONFIG merchants.no blanks',
        'TRANCHE_CONFIG merchants.no blanks.currency',
        'TRANCHE_CONFIG merchants.no blanks.not_executed_status.0',
        'TRANCHE_CONFIG merchants.no blanks.password_file',
        'TRANCHE_CONFIG merchants.no blanks.timeout',
        'TRANCHE_CONFIG merchants.no blanks.username',
        'TRANCHE_CONFIG merchants.no blanks.username_file',
        'TRANCHE_IN_FLIGHT',
      ]),
    )
    expect(mistakes).toHaveLength(14)
    expect(mistakes.join()).toContain('write password_file: with the path')
    expect(mistakes.join()).not.toContain('hush')
  })

  test('every mistake in a list of reason categories is named by its place', async () => {
    file('any.password', 'hush')
    const path = file(
      'categories.yaml',
      `merchants:
  acme:
    url: https://gateway.example
    username: acme
    password_file: any.password
    reason_categories:
      - {match: limit, category: funds}
      - {match: " ", category: card}
      - {match: x, category: money}
      - {match: y}
      - {match: z, category: card, as: regex}
      - {match: 51, category: card}
`,
    )
    expect((await mistakesOf({ TRANCHE_CONFIG: path })).map((line) => line.split(': ')[0])).toEqual(
      ['1.match', '2.category', '3.category', '4.as', '5.match'].map(
        (place) => `TRANCHE_CONFIG merchants.acme.reason_categories.${place}`,
      ),
    )
    const never = file(
      'never.yaml',
      `merchants: {acme: {url: "https://gateway.example", username: acme, password_file: any.password,
  reason_categories: [{match: limit, category: funds}, {match: Kontolimit, category: card}]}}`,
    )
    expect(await mistakesOf({ TRANCHE_CONFIG: never })).toEqual([
      'TRANCHE_CONFIG merchants.acme.reason_categories.1.match: is never reached: reason_categories.0 fits first',
    ])
  })

  test('one account under two names is refused', async () => {
    file('any.password', 'hush')
    const path = file(
      'twice.yaml',
      'merchants: {again: {url: "https://GATEWAY.example/base", username: shop-1, password_file: any.password}}',
    )
    expect(await mistakesOf({ ...GATEWAY, TRANCHE_CONFIG: path })).toEqual([
      expect.stringMatching(/merchants\.again: has the URL and username of "default".* Unset TRANCHE_GATEWAY_\*: /),
    ])
  })

  test('one account at two addresses is refused, unless the second is said to be another', async () => {
    file('own.password', 'open sesame')
    const path = (more: string) =>
      file(
        'two.yaml',
        `merchants: {two: {url: "https://other.example", username: shop-1, password_file: own.password${more}}}`,
      )
    const mistakes = await mistakesOf({ ...GATEWAY, TRANCHE_CONFIG: path('') })
    expect(mistakes).toEqual([
      expect.stringMatching(
        /merchants\.two: has the username and password of "default" under another address.*own_account: true/,
      ),
    ])
    expect(mistakes.join()).not.toMatch(/open sesame/)
    const { merchants } = await loadConfig({ ...GATEWAY, TRANCHE_CONFIG: path(', own_account: true') }, HOME)
    expect([...merchants.keys()]).toEqual(['default', 'two'])
    file('own.password', 'another one')
    expect((await loadConfig({ ...GATEWAY, TRANCHE_CONFIG: path('') }, HOME)).merchants.size).toBe(2)
  })

  test('what asks no gateway opens no password and no key, and takes two of one user name for what they are said to be', async () => {
    const path = file(
      'unread.yaml',
      'merchants: {two: {url: "https://other.example", username: shop-1, password_file: none, client_key_file: none, own_account: true}}',
    )
    const env = { ...GATEWAY, TRANCHE_GATEWAY_PASSWORD: undefined, TRANCHE_GATEWAY_PASSWORD_FILE: join(dir, 'none') }
    const { merchants, mistakes } = await loadConfig({ ...env, TRANCHE_CONFIG: path }, HOME, READING)
    expect(mistakes).toEqual([])
    for (const name of ['default', 'two'])
      expect(merchants.get(name)).toMatchObject({ username: 'shop-1', password: null, ownAccount: true })
    const without = await loadConfig({ ...GATEWAY, TRANCHE_GATEWAY_PASSWORD: undefined }, HOME, READING)
    expect([without.mistakes, without.merchants.size]).toEqual([[], 1])
  })

  test.each([
    ['merchants: [', 'line 1'],
    ['merchants: {a: {}, a: {}}', 'DUPLICATE_KEY'],
    ['merchants: {}', 'at least one merchant'],
    ['- merchants', 'at least one merchant'],
    ['merchants: *nowhere', 'TRANCHE_CONFIG'],
    ['', 'at least one merchant'],
  ])('%j is refused', async (text, said) => {
    expect((await mistakesOf({ TRANCHE_CONFIG: file('broken.yaml', text) })).join()).toContain(said)
  })
})

describe('merchantOf', () => {
  test('an unknown name is answered with the known ones', async () => {
    const config = await loadConfig(GATEWAY, HOME)
    expect(() => merchantOf(config, 'acme')).toThrow(/"acme"; configured: default/)
  })

  test('where none is configured, it says which variables to set', async () => {
    const config = await loadConfig({}, HOME)
    expect(() => merchantOf(config, 'default')).toThrow(
      /TRANCHE_GATEWAY_URL, TRANCHE_GATEWAY_USERNAME and TRANCHE_GATEWAY_PASSWORD/,
    )
  })
})

describe('a Redis on another host', () => {
  const withRedis = (url: string, more: NodeJS.ProcessEnv = {}) => ({ ...GATEWAY, TRANCHE_REDIS_URL: url, ...more })

  test.each([
    'redis://:knock@redis.example',
    'redis://10.1.2.3',
    'redis://127.0.0.1.evil.example',
    'redis+cluster://127.0.0.1,10.1.2.3',
    'redis+sentinel://main@127.0.0.1,redis.example:26379/1',
  ])('is not spoken to in clear unless that is said: %s', async (url) => {
    expect(await mistakesOf(withRedis(url))).toEqual([
      expect.stringMatching(/^TRANCHE_REDIS_URL leads to another host in clear/),
    ])
    expect(await mistakesOf(withRedis(url, { TRANCHE_REDIS_PLAINTEXT: 'no' }))).toHaveLength(1)
    const config = await loadConfig(withRedis(url, { TRANCHE_REDIS_PLAINTEXT: 'yes' }), HOME)
    expect(config.redisUrl?.reveal()).toBe(url)
  })

  test.each([
    'rediss://redis.example',
    'redis://127.0.0.1:6380',
    'redis://localhost',
    'redis://[::1]',
    'rediss+cluster://10.1.2.3,10.1.2.4:7000',
    'redis+sentinel://main@127.0.0.1,[::1]:7',
    '/run/redis.sock',
  ])('is spoken to under TLS, or is on this host: %s', async (url) => {
    expect((await loadConfig(withRedis(url), HOME)).redisUrl?.reveal()).toBe(url)
  })
})

describe('files of the configuration', () => {
  test('that others can read or change are named', async () => {
    const secret = file('secret', 'open sesame')
    const env = {
      TRANCHE_GATEWAY_URL: 'https://gateway.example',
      TRANCHE_GATEWAY_USERNAME: 'shop',
      TRANCHE_GATEWAY_PASSWORD_FILE: secret,
    }
    for (const [mode, exposed] of [
      [0o600, []],
      [0o640, [{ path: secret, by: 'read' }]],
      [0o604, [{ path: secret, by: 'read' }]],
    ] as const) {
      chmodSync(secret, mode)
      expect((await loadConfig(env, HOME)).exposed).toEqual(exposed)
    }
  })
})

test('a secret is not printed by accident', async () => {
  const config = await loadConfig({ ...GATEWAY, TRANCHE_REDIS_URL: 'rediss://:knock@redis.example' }, HOME)
  const merchant = merchantOf(config, 'default')
  const printed = [
    JSON.stringify(merchant),
    JSON.stringify(config),
    inspect(config, { depth: null, showHidden: true }),
    format('%s %o %j', merchant.password, merchant, merchant),
    `${merchant.password}`,
  ].join()
  expect(printed).toContain('[secret]')
  expect(printed).not.toMatch(/open sesame|knock/)
})

test('whatever the variables hold, the answer is a configuration or a fault', async () => {
  const names = [
    ...Object.keys(GATEWAY),
    'TRANCHE_REDIS_URL',
    'TRANCHE_DATA_DIR',
    'TRANCHE_RATE',
    'TRANCHE_IN_FLIGHT',
    'TRANCHE_TIMEOUT_MS',
    'TRANCHE_CONNECTIONS',
  ]
  const values = fc.oneof(fc.string(), fc.webUrl(), fc.nat().map(String), fc.constantFrom('warm', 'fresh', '/srv'))
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.constantFrom(...names), values), async (env) => {
      const result = await loadConfig(env, HOME).catch((error: unknown) => error)
      if (result instanceof Fault) expect(result.code).toBe('config')
      else expect(result).toMatchObject({ redisPrefix: 'bull' })
    }),
    { numRuns: 200 },
  )
})
