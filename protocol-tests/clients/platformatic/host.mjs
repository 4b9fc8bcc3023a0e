// @platformatic/kafka behind the host protocol.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

// The client asks for Node 22; this is the one function of it that Node 20 lacks.
Promise.withResolvers ??= () => {
  const all = {}
  all.promise = new Promise((resolve, reject) => Object.assign(all, { resolve, reject }))
  return all
}

const resolve = createRequire(process.env.CLIENT_MODULES + '/').resolve
const { Admin, Consumer, Producer, stringDeserializers, stringSerializers, ListOffsetTimestamps } =
  await import(pathToFileURL(resolve('@platformatic/kafka')))
const { event, text, sleep, serve } = createRequire(import.meta.url)('../harness/nodehost.cjs')

const base = { clientId: 'host', bootstrapBrokers: [process.argv[2]], retries: 10, retryDelay: 100 }
const members = {}
const own = assignments => (assignments || []).flatMap(a => a.partitions.map(p => `${a.topic}/${p}`))

class Member {
  constructor (c) {
    this.conf = c
    this.last = new Map() // the last message of each partition that was read
    this.consumer = new Consumer({
      ...base,
      clientId: c.m,
      groupId: c.group,
      deserializers: stringDeserializers,
      sessionTimeout: c.session || 6000,
      heartbeatInterval: c.hb || 500,
      rebalanceTimeout: 10000,
      maxWaitTime: 100,
      metadataMaxAge: 1000,
      ...(c.instance ? { groupInstanceId: c.instance } : {}),
      ...(c.assignors ? { protocols: c.assignors.map(name => ({ name, version: 1 })) } : {})
    })
    const cooperative = (c.assignors || []).includes('cooperative-sticky')
    this.consumer.on('consumer:group:join', p => event(c.m, 'own', { parts: own(p.assignments) }))
    this.consumer.on('consumer:group:rebalance', () =>
      event(c.m, 'own', { parts: cooperative ? own(this.consumer.assignments) : [] }))
    this.consumer.on('error', e => this.failed(e)) // also of a task that outlives close(), which a user must bear too
    this.consumer.on('consumer:heartbeat:error', p => console.error(c.m, 'heartbeat', text(p.error)))
  }

  async run () {
    const c = this.conf
    this.stream = await this.consumer.consume({
      topics: c.topics, mode: 'committed', fallbackMode: 'earliest', autocommit: c.commit === 'auto' ? c.auto_ms || 1000 : false
    })
    this.stream.on('error', e => this.failed(e))
    let batch = []
    for await (const message of this.stream) {
      batch.push(message)
      if (batch.length < (c.batch || 100) && this.stream.readableLength > 0) continue
      await this.handle(c.commit === 'auto' ? batch : batch.filter(m => this.owns(m)))
      batch = []
    }
  }

  // The stream also hands out what was fetched before a rebalance took the partition away; to commit that by hand
  // would move the new owner's offset back. Auto-commit counts it as done, so that then it must not be dropped.
  owns (message) {
    return (this.consumer.assignments || []).some(a => a.topic === message.topic && a.partitions.includes(message.partition))
  }

  async handle (messages) {
    if (!messages.length) return
    const c = this.conf
    event(c.m, 'recs', { recs: messages.map(m => [m.topic, m.partition, Number(m.offset), m.value]) })
    for (const m of messages) this.last.set(m.topic + '/' + m.partition, m)
    await sleep(c.delay || 0)
    if (c.commit === 'batch') await this.commit(messages.filter(m => this.owns(m)))
  }

  async commit (messages) {
    const last = new Map(messages.map(m => [m.topic + '/' + m.partition, m]))
    await Promise.all([...last.values()].map(m => m.commit()))
  }

  failed (e) {
    if (this.closing || this.dead) return
    this.dead = true
    console.error(e)
    event(this.conf.m, 'error', { err: text(e) })
  }

  async close () {
    this.closing = true
    await this.consumer.close(true)
    event(this.conf.m, 'closed')
  }
}

async function using (client, fn) {
  try { return await fn(client) } finally { await client.close() }
}

const produce = c => using(new Producer({ ...base, serializers: stringSerializers }), async producer => {
  const messages = Array.from({ length: c.n }, (_, i) => c.start + i)
    .map(i => ({ topic: c.topic, key: 'k' + i, value: String(i), partition: i % c.partitions }))
  await producer.send({ messages, acks: -1 })
})

const lag = c => using(new Admin(base), async admin => {
  const partitions = Array.from({ length: c.partitions }, (_, i) => i)
  const [group] = await admin.listConsumerGroupOffsets({ groups: [{ groupId: c.group, topics: [{ name: c.topic, partitionIndexes: partitions }] }] })
  const [ends] = await admin.listOffsets({
    topics: [{ name: c.topic, partitions: partitions.map(partitionIndex => ({ partitionIndex, timestamp: ListOffsetTimestamps.LATEST })) }]
  })
  const done = new Map(group.topics.flatMap(t => t.partitions).map(p => [p.partitionIndex, Math.max(Number(p.committedOffset), 0)]))
  return { lag: ends.partitions.reduce((sum, p) => sum + Number(p.offset) - (done.get(p.partitionIndex) || 0), 0) }
})

serve({
  create: c => using(new Admin(base), async admin => { await admin.createTopics({ topics: [c.topic], partitions: c.partitions, replicas: 1 }) }),
  produce,
  lag,
  start: async c => {
    const m = members[c.m] = new Member(c)
    m.run().catch(e => m.failed(e))
  },
  close: async c => { members[c.m].close().catch(e => console.error(e)) },
  commit: async c => { await members[c.m].commit([...members[c.m].last.values()]) }
})
process.on('unhandledRejection', e => console.error('unhandled', e))
