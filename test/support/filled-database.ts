import type { Db } from '../../host/db/db.ts'

/** Values that a database may change on their way: long, empty, wide, nested, and numbers at their ends. */
const text = 'a “quoted” 𝒯ext,\n\ttwo lines \\ \'; drop table "jobs"; -- \u0001\u007f'
const json = JSON.stringify({ text, nul: '\0', half: '\ud800', nested: [[{ deep: null }]] })
const most = Number.MAX_SAFE_INTEGER
const at = 1_764_000_000_123

/** Stores rows in all tables: two installations, a delivery in each state, and a job that a host has claimed. */
export async function fillDatabase(db: Db): Promise<void> {
  const secrets = {
    signingSecret: 'sealed',
    previousSigningSecret: null,
    previousSecretUntil: null,
    firstSecret: null,
  }
  const owner = { organizationId: 'org_1', createdAt: at }
  const level = { configuration: json, externalIds: '["a"]', ...secrets, createdAt: at, updatedAt: most }
  await db('organizations').insert([
    { id: 'org_1', subdomain: 'home', title: text, createdAt: at },
    { id: 'org_2', subdomain: 'other', title: '', createdAt: 0 },
  ])
  await db('externalIds').insert({ kind: 'site', owner: 'org_1', externalId: 'x', recordId: 'site_1' })
  await db('accounts').insert([
    {
      ...{ id: 'acc_1', email: 'a@example.com', name: text, password: 'scrypt$17', isOperator: false },
      ...{ createdAt: at, updatedAt: most },
    },
    {
      ...{ id: 'acc_2', email: 'o@example.com', name: '', password: null, isOperator: true },
      ...{ createdAt: at, updatedAt: at },
    },
  ])
  await db('members').insert({
    ...{ id: 'mem_1', email: 'a@example.com', name: text, role: 'admin', accountId: 'acc_1' },
    ...{ ...owner, updatedAt: at },
  })
  await db('passkeys').insert({
    ...{
      id: 'key_1',
      accountId: 'acc_2',
      credentialId: 'c',
      publicKey: 'k',
      counter: most,
      transports: '[]',
    },
    ...{ host: 'localhost', label: text, createdAt: at, lastUsedAt: null },
  })
  await db('openidSubjects').insert({
    ...{ issuer: 'https://login.example', subject: text, accountId: 'acc_2', setsRoles: true },
    ...{ createdAt: at, lastUsedAt: null },
  })
  await db('sessions').insert({
    ...{ id: 'ses_1', hash: 'h', accountId: 'acc_1', method: 'password', createdAt: at, lastUsedAt: at },
    ...{ confirmedAt: at, expiresAt: most, address: null, userAgent: text },
  })
  await db('oneTimeLinks').insert({ hash: 'h', accountId: 'acc_2', expiresAt: at })
  await db('usedChallenges').insert({ hash: 'h', expiresAt: at })
  await db('tokens').insert([
    {
      id: 'tok_1',
      hash: 'h1',
      kind: 'operator',
      organizationId: null,
      label: '',
      createdAt: at,
      expiresAt: null,
    },
    { id: 'tok_2', hash: 'h2', kind: 'user', label: text, ...owner, expiresAt: most },
  ])
  await db('spaces').insert({
    id: 'space_1',
    slug: 's',
    title: text,
    folder: '/a b',
    revisionId: 'rev_1',
    ...owner,
  })
  const author = { authorType: 'host', authorId: 'folder' }
  await db('revisions').insert({ id: 'rev_1', spaceId: 'space_1', number: 1, ...author, createdAt: at })
  await db('pages').insert({
    ...{ spaceId: 'space_1', id: 'page_1', fromRevision: 1, toRevision: null, kind: 'document' },
    ...{ path: 'start', parentId: null, position: 0.5, title: text, description: null, digest: 'd' },
    ...{ markdown: text, document: null },
  })
  await db('sites').insert({ id: 'site_1', slug: 's', title: text, publicKey: 'pk_1', ...owner })
  await db('integrations').insert({
    name: 'echo',
    folder: 'echo',
    versionId: 'ver_1',
    signingSecret: 's',
    ...owner,
    suspendedAt: at,
    suspendedDigest: 'd',
    suspendedReason: text,
    loadedBy: null,
  })
  await db('versions').insert({
    id: 'ver_1',
    integration: 'echo',
    number: 7,
    digest: 'd',
    manifest: json,
    code: 'x'.repeat(10_000_000),
    sourceMap: '',
    createdAt: at,
  })
  await db('installLinks').insert({
    id: 'lnk_1',
    integration: 'echo',
    hash: 'h',
    label: text,
    createdAt: at,
  })
  await db('versionImages').insert({
    versionId: 'ver_1',
    name: 'icon.png',
    type: 'png',
    digest: 'd',
    bytes: 'AA==',
  })
  const installation = { integration: 'echo', createdAt: at }
  const hold = { hold: 'suspended', holdReason: text, suspendedAt: at, suspendedDigest: 'd' }
  await db('installations').insert([
    { id: 'inst_1', organizationId: 'org_1', ...installation, usesCountedSince: most },
    { id: 'inst_2', organizationId: 'org_2', ...installation, ...hold },
  ])
  const account = { kind: 'account', placeId: '', ...level }
  const rotated = { previousSigningSecret: 'before', previousSecretUntil: most, firstSecret: 'old' }
  await db('levels').insert([
    { installationId: 'inst_1', status: 'active', ...account },
    { installationId: 'inst_2', status: 'pending', statusReason: text, ...account, ...rotated },
    { installationId: 'inst_1', kind: 'site', placeId: 'site_1', status: 'active', ...level },
    { installationId: 'inst_1', kind: 'space', placeId: 'space_1', status: 'pending', ...level },
  ])
  await db('levelExternalIds').insert({
    ...{ integration: 'echo', kind: 'account', externalId: 'a', installationId: 'inst_1', targetId: '' },
  })
  await db('grants').insert({
    ...{ id: 'grt_1', installationId: 'inst_1', version: 7, permissions: json },
    ...{ actorKind: 'token', actorId: 'tok_1', createdAt: at },
  })
  await db('permissionUses').insert([
    { installationId: 'inst_1', scope: 'site:views:read', day: at, uses: most },
    { installationId: 'inst_1', scope: 'site:views:read', day: 0, uses: 1 },
  ])
  await db('statusChanges').insert([
    {
      ...{ installationId: 'inst_1', kind: 'account', placeId: '', number: 1, fromStatus: null },
      ...{ toStatus: 'pending', why: 'installed', reason: null, actorKind: 'token', actorId: 'tok_1' },
      ...{ requestId: 'req_1', eventId: null, version: 7, at },
    },
    {
      ...{ installationId: 'inst_1', kind: 'site', placeId: 'site_1', number: 101, fromStatus: 'active' },
      ...{ toStatus: 'pending', why: 'setup_failed', reason: text, actorKind: 'system', actorId: null },
      ...{ requestId: null, eventId: 'evt_1', version: null, at: most },
    },
  ])
  await db('stores').insert([
    { level: '/x/echo', integration: 'echo', bytes: most, keys: 2, version: most },
    {
      level: '/x/echo/inst_1/sites/site_1',
      integration: 'echo',
      installationId: 'inst_1',
      targetKind: 'site',
      targetId: 'site_1',
      bytes: 0,
      keys: 0,
      version: 1,
    },
  ])
  const stored = { level: '/x/echo', value: 'sealed', bytes: 107, version: 1 }
  await db('storedValues').insert([
    { ...stored, key: text, expiresAt: most },
    { ...stored, key: '𝒯', expiresAt: null },
  ])
  await db('oauthFlows').insert({
    id: 'flow_1',
    integration: 'echo',
    installationId: 'inst_1',
    endpoint: '/x/echo/inst_1',
    path: '/oauth',
    linkHash: 'h',
    browserHash: null,
    stateHash: null,
    scriptState: text,
    callback: '/x/echo/oauth',
    expiresAt: most,
    usedAt: null,
  })
  await db('events').insert([
    { id: 'evt_1', organizationId: 'org_1', type: 'site_view', payload: json, receivedAt: at },
    { id: 'evt_1', organizationId: 'org_2', type: 'site_view', payload: '{}', receivedAt: at },
  ])
  const receiver = { installationId: 'inst_1', url: 'http://a.example/', createdAt: at, updatedAt: at }
  await db('receivers').insert([
    {
      id: 'rcv_1',
      signedBy: 'installation',
      state: 'active',
      reason: null,
      ordered: true,
      failingSince: null,
      ...receiver,
    },
    {
      id: 'rcv_2',
      signedBy: 'site:site_1',
      state: 'paused',
      reason: text,
      ordered: false,
      failingSince: at,
      ...receiver,
    },
  ])
  await db('deliveryCounts').insert({ receiverId: 'rcv_1', day: at, delivered: most, failed: 0, attempts: 1 })
  await db('bodies').insert([
    { id: 'body_1', body: json },
    { id: 'body_2', body: '𝒯'.repeat(2_500_000) },
  ])
  const delivery = {
    eventId: 'evt_1',
    eventType: 'site_view',
    installationId: 'inst_1',
    signedBy: 'installation',
    url: 'http://a.example/',
    hops: 1,
    createdAt: at,
    requestId: 'req_1',
  }
  await db('deliveries').insert([
    {
      id: 'dlv_1',
      receiverId: 'rcv_1',
      bodyId: 'body_1',
      state: 'pending',
      reason: null,
      attempts: 1,
      ...delivery,
      finishedAt: null,
      refusedId: null,
    },
    {
      id: 'dlv_2',
      receiverId: 'rcv_2',
      bodyId: 'body_2',
      state: 'failed',
      reason: text,
      attempts: 0,
      ...delivery,
      finishedAt: at,
      refusedId: 'att_9',
    },
  ])
  await db('attempts').insert({
    id: 'att_1',
    deliveryId: 'dlv_1',
    number: 1,
    startedAt: at,
    durationMs: 12,
    outcome: 'rejected',
    status: 500,
    requestHeaders: '[]',
    responseHeaders: json,
    responseBody: text,
    timing: '{"dnsMs":0.1}',
    errorCode: null,
    errorMessage: null,
  })
  const job = {
    subject: json,
    attempt: 1,
    dueAt: at,
    createdAt: at,
    position: at * 1_000,
    interruptions: 0,
    size: 12,
  }
  const free = {
    leaseId: null,
    leaseUntil: null,
    hostId: null,
    claimedAt: null,
    lastError: null,
    finishedAt: null,
  }
  await db('jobs').insert([
    {
      id: 'job_1',
      kind: 'delivery',
      lane: 'rcv_1',
      owner: 'inst_1',
      state: 'due',
      ordered: true,
      ...job,
      ...free,
    },
    {
      id: 'job_2',
      kind: 'event',
      lane: 'inst_2',
      owner: 'inst_2',
      state: 'waiting',
      ordered: false,
      ...job,
      ...free,
    },
    {
      id: 'job_3',
      kind: 'task',
      lane: 'inst_1',
      owner: 'inst_1',
      state: 'failed',
      ordered: false,
      ...job,
      ...free,
      lastError: text,
    },
    {
      id: 'job_4',
      kind: 'event',
      lane: 'inst_1',
      owner: 'inst_1',
      state: 'running',
      ordered: false,
      ...job,
      ...free,
      leaseId: 'lease_1',
      leaseUntil: most,
      hostId: 'host_1',
      claimedAt: at,
    },
  ])
  const seen = { at, integration: 'echo', installationId: 'inst_1', requestId: null, level: 'info' }
  const lines = Array.from({ length: 1_000 }, (_one, n) => ({ ...seen, text: `line ${n}` }))
  for (let n = 0; n < lines.length; n += 250) await db('logs').insert(lines.slice(n, n + 250))
  const used = { wallMs: 0.1 + 0.2, egressCalls: 1, egressBytes: most, hostCalls: 0 }
  await db('receipts').insert({
    id: 12,
    owner: 'inst_1',
    integration: 'echo',
    installationId: 'inst_1',
    requestId: 'req_1',
    type: 'fetch',
    startedAt: at,
    cpuMs: 1e-7,
    heapBytes: most,
    outcome: 'ok',
    status: null,
    eventId: 'evt_1',
    outboundRequests: '{"requests":[],"leftOut":3}',
    ...used,
  })
  await db('usage').insert({
    owner: 'inst_1',
    minute: at,
    integration: 'echo',
    installationId: null,
    dispatches: 1,
    failed: 0,
    cpuMs: 3,
    maxHeapBytes: 1,
    ...used,
  })
  await db('activity').insert({
    owner: 'org_1',
    stepMs: 3_600_000,
    startMs: at,
    slots: Buffer.from([0, 255]),
  })
  await db('audit').insert({
    ...{ id: 'aud_1', actorKind: 'token', actorId: 'tok_1', action: 'settings.change', ...owner },
    ...{ subjectKind: 'installation', subjectId: 'inst_1', before: json, after: null },
    ...{ requestId: 'req_1', address: '192.0.2.1' },
  })
  await db('keyChecks').insert({ purpose: 'secrets', sealed: 'the same' })
}
