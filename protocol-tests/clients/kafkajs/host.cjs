// kafkajs behind the host protocol.
const { Kafka, logLevel, AssignerProtocol } = require('kafkajs')
const { event, text, sleep, parts, serve } = require('../harness/nodehost.cjs')

const kafka = new Kafka({
  clientId: 'host', brokers: [process.argv[2]], retry: { initialRetryTime: 100, retries: 8 },
  logLevel: process.env.CLIENT_LOG ? logLevel.DEBUG : logLevel.WARN,
  logCreator: () => ({ label, log }) => console.error(new Date().toISOString(), label, JSON.stringify(log))
})
const members = {}
const txns = {}

class Member {
  constructor (c) {
    this.conf = c
    this.name = c.m
    this.done = {}
    this.consumer = kafka.consumer({
      groupId: c.group, sessionTimeout: c.session || 6000, heartbeatInterval: c.hb || 500, rebalanceTimeout: 10000,
      maxWaitTimeInMs: 100, metadataMaxAge: 1000, readUncommitted: c.isolation !== 'read_committed',
      allowAutoTopicCreation: false,
      ...(c.assignors ? { partitionAssigners: c.assignors.map(named) } : {})
    })
    const { GROUP_JOIN, REBALANCING, CRASH } = this.consumer.events
    this.consumer.on(GROUP_JOIN, e => event(this.name, 'own', { parts: parts(e.payload.memberAssignment) }))
    this.consumer.on(REBALANCING, () => event(this.name, 'own', { parts: [] }))
    this.consumer.on(CRASH, e => { if (!e.payload.restart) event(this.name, 'error', { err: text(e.payload.error) }) })
  }

  async run () {
    const c = this.conf
    await this.consumer.connect()
    await this.consumer.subscribe({ topics: c.topics, fromBeginning: true })
    await this.consumer.run({
      autoCommit: c.commit === 'auto',
      autoCommitInterval: c.auto_ms || 1000,
      eachBatchAutoResolve: false,
      eachBatch: async ({ batch, resolveOffset, heartbeat, isRunning, isStale }) => {
        const size = c.batch || 100
        for (let i = 0; i < batch.messages.length && isRunning() && !isStale(); i += size) {
          const ms = batch.messages.slice(i, i + size)
          const next = String(BigInt(ms.at(-1).offset) + 1n)
          event(this.name, 'recs', { recs: ms.map(m => [batch.topic, batch.partition, Number(m.offset), m.value.toString()]) })
          await sleep(c.delay || 0)
          this.done[batch.topic + '/' + batch.partition] = { topic: batch.topic, partition: batch.partition, offset: next }
          if (c.commit === 'batch') await this.consumer.commitOffsets([{ topic: batch.topic, partition: batch.partition, offset: next }])
          resolveOffset(ms.at(-1).offset)
          await heartbeat()
        }
      }
    })
  }

  async close () {
    await this.consumer.disconnect()
    event(this.name, 'closed')
  }
}

// kafkajs ships one assigner (round robin); under another name it stands for a group that shares no assignor.
function named (name) {
  return args => {
    const base = require('kafkajs').PartitionAssigners.roundRobin(args)
    if (name === 'roundrobin') return base
    return {
      ...base,
      name,
      protocol: ({ topics }) => ({ name, metadata: AssignerProtocol.MemberMetadata.encode({ version: 0, topics, userData: Buffer.alloc(0) }) })
    }
  }
}

async function withAdmin (fn) {
  const admin = kafka.admin()
  await admin.connect()
  try { return await fn(admin) } finally { await admin.disconnect() }
}

const committed = (group, topic) => withAdmin(async a => (await a.fetchOffsets({ groupId: group, topics: [topic] }))[0].partitions)

async function produce (c) {
  const p = kafka.producer({ allowAutoTopicCreation: false })
  await p.connect()
  const messages = Array.from({ length: c.n }, (_, i) => ({ value: String(c.start + i), partition: (c.start + i) % c.partitions }))
  await p.send({ topic: c.topic, messages, acks: -1 })
  await p.disconnect()
}

async function lag (c) {
  const done = await committed(c.group, c.topic)
  const ends = await withAdmin(a => a.fetchTopicOffsets(c.topic))
  let sum = 0
  for (const { partition, offset } of ends) {
    const at = done.find(d => d.partition === partition)
    sum += Number(offset) - (at ? Math.max(Number(at.offset), 0) : 0)
  }
  return { lag: sum }
}

const txnProducer = async txid => {
  const p = kafka.producer({ transactionalId: txid, maxInFlightRequests: 1, idempotent: true, allowAutoTopicCreation: false, retry: { retries: 5 } })
  await p.connect()
  return p
}

async function eos (c) {
  const p = await txnProducer(c.txid)
  const consumer = kafka.consumer({ groupId: c.group, sessionTimeout: 6000, heartbeatInterval: 500, rebalanceTimeout: 10000, maxWaitTimeInMs: 100 })
  let done = 0; let n = 0; let aborted = 0; let unchanged = true; const known = {}
  await consumer.connect()
  await consumer.subscribe({ topics: [c.in], fromBeginning: true })
  await new Promise((resolve, reject) => {
    setTimeout(resolve, 25000)
    consumer.on(consumer.events.CRASH, e => reject(e.payload.error))
    consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: async ({ batch, resolveOffset, heartbeat }) => {
        for (let i = 0; i < batch.messages.length;) {
          const ms = batch.messages.slice(i, i + 10)
          // This client cannot ask for stable offsets: wait until those of the last transaction show.
          const at = async () => (await committed(c.group, c.in)).find(p => p.partition === batch.partition).offset
          const before = known[batch.partition] ?? '-1'
          for (let k = 0; k < 100 && await at() !== before; k++) await sleep(50)
          const txn = await p.transaction()
          await txn.send({ topic: c.out, messages: ms.map(m => ({ value: 'x' + m.value, partition: 0 })) })
          await txn.sendOffsets({
            consumerGroupId: c.group,
            topics: [{ topic: c.in, partitions: [{ partition: batch.partition, offset: String(BigInt(ms.at(-1).offset) + 1n) }] }]
          })
          if ((c.abort || []).includes(n++)) {
            await txn.abort()
            aborted++
            unchanged = unchanged && before === await at()
            continue // the same records again
          }
          await txn.commit()
          known[batch.partition] = String(BigInt(ms.at(-1).offset) + 1n)
          i += ms.length
          done += ms.length
          resolveOffset(ms.at(-1).offset)
          await heartbeat()
        }
        if (done >= c.n) resolve()
      }
    }).catch(reject)
  })
  await consumer.disconnect()
  await p.disconnect()
  return { done, aborted, unchanged }
}

serve({
  create: c => withAdmin(async a => { await a.createTopics({ topics: [{ topic: c.topic, numPartitions: c.partitions, replicationFactor: 1 }] }) }),
  produce,
  lag,
  eos,
  start: async c => {
    const m = members[c.m] = new Member(c)
    m.run().catch(e => { console.error(e); event(c.m, 'error', { err: text(e) }) })
  },
  close: async c => { members[c.m].close().catch(e => console.error(e)) },
  commit: async c => { await members[c.m].consumer.commitOffsets(Object.values(members[c.m].done)) },
  txn_begin: async c => {
    const txn = await (await txnProducer(c.txid)).transaction()
    await txn.send({ topic: c.topic, messages: Array.from({ length: c.n }, (_, i) => ({ value: c.prefix + i, partition: 0 })) })
    txns[c.as || c.txid] = txn
  },
  txn_end: async c => { await (c.commit ? txns[c.txid].commit() : txns[c.txid].abort()) }
})
process.on('unhandledRejection', e => console.error('unhandled', e))
