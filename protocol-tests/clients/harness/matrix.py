"""The matrix: (name, function, client folders it needs)."""
import os

import cli_cases as cli
import java_cases as j
import mixed_cases as m
import scenarios as s
import tool_cases as tools

CASES = []

def add(client, name, fn, needs=()):
    """A case that every run includes."""
    CASES.append(("%s/%s" % (client, name), fn, ([] if client == "mixed" else [client]) + list(needs)))

def extra(*args):
    """A case much like others, run only with CLIENTS_EXTRA=1."""
    if os.environ.get("CLIENTS_EXTRA"):
        add(*args)

# --- Java, kafka-clients ---------------------------------------------------------------------------
add("java", "S0-admin", j.admin)
add("java", "S1-range", s.seed_orders(assignors=["range"]))
add("java", "S1-cooperative", s.seed_orders(assignors=["cooperative-sticky"]))
add("java", "S1-consumer", s.seed_orders(protocol="consumer", crash=False))
add("java", "S2-default", s.exactly_once())
add("java", "S2-commit-on-revoke", s.commit_on_revoke())
extra("java", "S2-commit-on-revoke-cooperative", s.commit_on_revoke(assignors=["cooperative-sticky"]))
add("java", "S2-auto-commit", s.auto_commit())
extra("java", "S2-cooperative", s.exactly_once(assignors=["cooperative-sticky"]))
add("java", "S2-consumer", s.exactly_once(protocol="consumer"))
add("java", "S3-classic", s.static_members(assignors=["range"]))
add("java", "S3-consumer", s.static_members(protocol="consumer", fence=False))
add("java", "S4-cooperative", s.cooperative(assignors=["cooperative-sticky"]))
add("java", "S4-eager", s.eager_split(["range", "roundrobin", "sticky"]))
add("java", "S4-custom-assignor", j.custom_assignor)
add("java", "S5-inconsistent", s.inconsistent())
add("java", "S5-rolling", s.rolling())
add("java", "S6-uniform", s.remote_assignor("uniform"))
extra("java", "S6-range", s.remote_assignor("range"))
add("java", "S6-regex", s.regex_and_growth())
add("java", "S7-migration", s.migration(assignors=["range"]))
add("java", "S8-zombie", s.zombie(assignors=["range"]))
add("java", "S8-consumer", s.zombie("pause", protocol="consumer", max_poll_ms=5000))
add("java", "S9-eos", s.eos())
add("java", "S9-open", s.open_txn())
add("java", "S11-share", s.share())

# --- Spring for Apache Kafka: a member is a concurrent container ------------------------------------
for spring in ("spring-4.1", "spring-3.3"):
    add(spring, "S1-range", s.seed_orders(assignors=["range"]))
    add(spring, "S2-default", s.exactly_once())
    add(spring, "S2-containers", j.containers)
    add(spring, "S2-auto-commit", s.auto_commit(interval=300))
    add(spring, "S3-classic", s.static_members())
    extra(spring, "S1-cooperative", s.seed_orders(assignors=["cooperative-sticky"]))
    extra(spring, "S4-cooperative", s.cooperative(assignors=["cooperative-sticky"]))
    extra(spring, "S4-eager", s.eager_split(["range", "roundrobin", "sticky"]))
    extra(spring, "S5-inconsistent", s.inconsistent())
    extra(spring, "S5-rolling", s.rolling())

# --- franz-go --------------------------------------------------------------------------------------
add("franz-go", "S1-cooperative", s.seed_orders())
extra("franz-go", "S1-range", s.seed_orders(assignors=["range"]))
extra("franz-go", "S1-consumer", s.seed_orders(protocol="consumer", crash=False))
add("franz-go", "S2-default", s.exactly_once())
add("franz-go", "S2-commit-on-revoke", s.commit_on_revoke())
extra("franz-go", "S2-commit-on-revoke-cooperative", s.commit_on_revoke(assignors=["cooperative-sticky"]))
add("franz-go", "S2-auto-commit", s.auto_commit())
extra("franz-go", "S2-consumer", s.exactly_once(protocol="consumer"))
add("franz-go", "S3-classic", s.static_members())
extra("franz-go", "S4-cooperative", s.cooperative(assignors=["cooperative-sticky"]))
extra("franz-go", "S4-eager", s.eager_split(["range", "roundrobin", "sticky"]))
extra("franz-go", "S5-inconsistent", s.inconsistent())
extra("franz-go", "S5-rolling", s.rolling())
add("franz-go", "S6-uniform", s.remote_assignor("uniform"))
extra("franz-go", "S6-regex", s.regex_and_growth())
extra("franz-go", "S6-range", s.remote_assignor("range"))
extra("franz-go", "S7-migration", s.migration(assignors=["range"]))
add("franz-go", "S8-zombie", s.zombie())
add("franz-go", "S9-eos", s.eos())
extra("franz-go", "S9-open", s.open_txn())
add("franz-go", "S11-share", s.share())

# --- confluent-kafka-python (librdkafka) -----------------------------------------------------------
add("confluent-python", "S1-range", s.seed_orders(assignors=["range"]))
extra("confluent-python", "S1-cooperative", s.seed_orders(assignors=["cooperative-sticky"]))
add("confluent-python", "S1-consumer", s.seed_orders(protocol="consumer", crash=False))
add("confluent-python", "S2-default", s.exactly_once())
add("confluent-python", "S2-commit-on-revoke", s.commit_on_revoke())
extra("confluent-python", "S2-commit-on-revoke-cooperative", s.commit_on_revoke(assignors=["cooperative-sticky"]))
add("confluent-python", "S2-auto-commit", s.auto_commit())
extra("confluent-python", "S2-consumer", s.exactly_once(protocol="consumer"))
add("confluent-python", "S3-classic", s.static_members())
add("confluent-python", "S4-cooperative", s.cooperative(assignors=["cooperative-sticky"]))
extra("confluent-python", "S4-eager", s.eager_split(["range", "roundrobin"]))
extra("confluent-python", "S5-inconsistent", s.inconsistent())
extra("confluent-python", "S6-uniform", s.remote_assignor("uniform"))
add("confluent-python", "S6-regex", s.regex_and_growth())
extra("confluent-python", "S7-migration", s.migration(assignors=["range"]))
add("confluent-python", "S8-zombie", s.zombie(silent=True))
add("confluent-python", "S9-eos", s.eos())
extra("confluent-python", "S9-open", s.open_txn())
add("confluent-python", "S11-share", s.share())

# --- rdkafka (Rust over librdkafka) ----------------------------------------------------------------
add("rdkafka", "S1-range", s.seed_orders(assignors=["range"]))
extra("rdkafka", "S1-cooperative", s.seed_orders(assignors=["cooperative-sticky"]))
add("rdkafka", "S2-default", s.exactly_once())
add("rdkafka", "S2-commit-on-revoke", s.commit_on_revoke())
extra("rdkafka", "S2-commit-on-revoke-cooperative", s.commit_on_revoke(assignors=["cooperative-sticky"]))
add("rdkafka", "S2-auto-commit", s.auto_commit())
add("rdkafka", "S3-classic", s.static_members())
add("rdkafka", "S4-cooperative", s.cooperative(assignors=["cooperative-sticky"]))
extra("rdkafka", "S4-eager", s.eager_split(["range", "roundrobin"]))
extra("rdkafka", "S5-inconsistent", s.inconsistent())
extra("rdkafka", "S8-zombie", s.zombie(silent=True))

# --- aiokafka --------------------------------------------------------------------------------------
add("aiokafka", "S1-default", s.seed_orders())
add("aiokafka", "S2-default", s.exactly_once())
add("aiokafka", "S2-commit-on-revoke", s.commit_on_revoke())
add("aiokafka", "S2-auto-commit", s.auto_commit())
# aiokafka does not know error 82: its fenced member learns of it as a failed commit
extra("aiokafka", "S3-classic", s.static_members(fence="commit", errors=s.EVICTED))
extra("aiokafka", "S4-eager", s.eager_split(["range", "roundrobin", "sticky"]))
extra("aiokafka", "S5-inconsistent", s.inconsistent())
extra("aiokafka", "S8-zombie", s.zombie())
add("aiokafka", "S9-eos", s.eos())
extra("aiokafka", "S9-open", s.open_txn())

# --- kafka-python ----------------------------------------------------------------------------------
add("kafka-python", "S1-default", s.seed_orders())
add("kafka-python", "S2-default", s.exactly_once())
add("kafka-python", "S2-auto-commit", s.auto_commit())
extra("kafka-python", "S2-cooperative", s.exactly_once(assignors=["cooperative-sticky"]))
add("kafka-python", "S3-classic", s.static_members(fence="commit"))
extra("kafka-python", "S4-cooperative", s.cooperative(assignors=["cooperative-sticky"]))
extra("kafka-python", "S4-eager", s.eager_split(["range", "roundrobin", "sticky"]))
extra("kafka-python", "S5-inconsistent", s.inconsistent())
extra("kafka-python", "S8-zombie", s.zombie())

# --- kafkajs ---------------------------------------------------------------------------------------
add("kafkajs", "S1-default", s.seed_orders())
add("kafkajs", "S2-default", s.exactly_once())
add("kafkajs", "S2-auto-commit", s.auto_commit(interval=500, repeats=True))
extra("kafkajs", "S4-eager", s.eager_split(["roundrobin"]))
extra("kafkajs", "S5-inconsistent", s.inconsistent(first="roundrobin", second="other"))
extra("kafkajs", "S8-zombie", s.zombie())
add("kafkajs", "S9-eos", s.eos())
extra("kafkajs", "S9-open", s.open_txn())

# --- sarama ----------------------------------------------------------------------------------------
add("sarama", "S1-range", s.seed_orders())
extra("sarama", "S1-cooperative", s.seed_orders(assignors=["cooperative-sticky"]))
add("sarama", "S2-default", s.exactly_once())
add("sarama", "S2-commit-on-revoke", s.commit_on_revoke())
add("sarama", "S2-auto-commit", s.auto_commit())
add("sarama", "S3-classic", s.static_members())
extra("sarama", "S4-cooperative", s.cooperative(assignors=["cooperative-sticky"]))
extra("sarama", "S4-eager", s.eager_split(["range", "roundrobin", "sticky"]))
extra("sarama", "S5-inconsistent", s.inconsistent())
extra("sarama", "S5-rolling", s.rolling())
extra("sarama", "S8-zombie", s.zombie(silent=True))

# --- kafka-go --------------------------------------------------------------------------------------
add("kafka-go", "S1-default", s.seed_orders())
add("kafka-go", "S2-default", s.exactly_once())
extra("kafka-go", "S4-eager", s.eager_split(["range", "roundrobin"], roundrobin=(2, 4)))
extra("kafka-go", "S5-inconsistent", s.inconsistent())
extra("kafka-go", "S8-zombie", s.zombie(silent=True, also=["closed network connection", "EOF"]))

# --- @platformatic/kafka ---------------------------------------------------------------------------
add("platformatic", "S1-default", s.seed_orders())
add("platformatic", "S2-default", s.exactly_once(repeats=True))
add("platformatic", "S2-auto-commit", s.auto_commit(interval=500, repeats=True))
add("platformatic", "S3-classic", s.static_members(fence=False, kill=True))
extra("platformatic", "S4-cooperative", s.cooperative(assignors=["cooperative-sticky"]))
extra("platformatic", "S4-eager", s.eager_split(["roundrobin"]))
extra("platformatic", "S5-inconsistent", s.inconsistent(first="roundrobin", second="cooperative-sticky"))

# --- Kafka's command-line tools --------------------------------------------------------------------
add("cli", "S10-topics", cli.topics)
add("cli", "S10-describe-classic", cli.describe("Classic", "range", assignors=["range"]), ["java"])
add("cli", "S10-describe-consumer", cli.describe("Consumer", "uniform", protocol="consumer"), ["java"])
add("cli", "S10-reset-delete", cli.reset_and_delete, ["java"])
add("cli", "S10-group-configs", cli.group_configs)
add("cli", "S10-console", cli.console)
add("cli", "S10-reset-forms", tools.reset_forms)
add("cli", "S10-reset-plans", tools.reset_plans)
add("cli", "S10-get-offsets", tools.offsets)
add("cli", "S10-configs", tools.configs)
add("cli", "S10-quotas", tools.quotas)
add("cli", "S10-scram", tools.scram)
add("cli", "S10-cluster", tools.cluster)
add("cli", "S10-consumer-offsets", tools.consumer_offsets)
add("cli", "S10-verifiable", tools.verifiable)
add("cli", "S10-performance", tools.performance)
add("cli", "S1-console-crash", cli.crash)
extra("cli", "S9-transactions", cli.transactions, ["java"])
add("cli", "S11-share", cli.share_tools)

# --- Members of several libraries in one group -----------------------------------------------------
RANGE = ["java", "franz-go", "confluent-python", "aiokafka", "sarama", "kafka-python"]
ROUNDROBIN = ["spring-3.3", "spring-4.1", "rdkafka", "platformatic", "java", "aiokafka"]
add("mixed", "S1-range", m.many_clients(*RANGE, assignors=["range"]), RANGE)
add("mixed", "S1-roundrobin", m.many_clients(*ROUNDROBIN, assignors=["roundrobin"]), ROUNDROBIN)
extra("mixed", "S7-migration", m.mixed_migration, ["java", "franz-go", "confluent-python", "sarama"])
