"""Names of settings that hold secrets or are known to hold none, and values that are too common to be a secret."""

from __future__ import annotations

import re

ENV_SECRET = "DBT_ENV_SECRET_"  # noqa: S105 - a name
"""The beginning of dbt's secret variables, whatever else their names say: DBT_ENV_SECRET_TOKEN_ID is one."""

_SECRET = re.compile(
    r"secret|passw(?:or)?[dt]|passphrase|passcode|pwd|token|cookie|authorization|signature|jaas[._-]?config|auth[._-]user[._-]info"
    r"|credential(?!s?[._-]?provider)"
    r"|(?:access|account|api|private|shared|encryption|keystore|storage|signing|session|master)[._-]?key(?![a-z])"
    r"|(?<![a-z])(?:sas|sig|pw|psw)(?![a-z])|(?-i:(?<![A-Za-z])pass|(?:store|key)pass|(?<=[a-z])Pass|(?<=[A-Z]_)PASS)\d*$",
    re.IGNORECASE,
)
_NO_SECRET = re.compile(r"(?:tokens?[._-]?(?:count|type|provider|file|id)|max[._-]?tokens)$", re.IGNORECASE)
"""Ends of names that hold no secret, though they have one of the words of `_SECRET`."""

_OF_SPARK = re.compile(
    r"(?:set:hiveconf:)?spark\.(?:hadoop\.(?:fs\.defaultFS$|(?:hive|datanucleus|parquet|dfs|mapred\w*|yarn)\.)|sql\.(?!catalog\.[^.]+\.)"
    r"|(?:app|authenticate|broadcast|cleaner|connect|cores|default|delta|databricks|driver|dynamicAllocation|eventLog"
    r"|executor|history|io|kryo\w*|locality|log|memory|metrics|network|port|py\w*|rdd|reducer|rpc|scheduler|shuffle"
    r"|speculation|ssl|stage|storage|streaming|submit|task|ui|yarn|kubernetes)\."
    r"|(?:archives|extraListeners|files|jars|local\.dir|logConf|master|plugins|serializer|speculation)\b)"
)
"""Beginnings of Spark's own settings; those of catalogs, file systems and environments are whatever users write."""
_ENVIRONMENT = re.compile(r"Env\.")
_ENDS = re.compile(
    r"address(?:es)?|class|codec|compression|dialect|dir(?:s|ectory)?|driver(?:name)?|encoding|endpoint|extensions|factory|files?"
    r"|format|host(?:s|name)?|id|impl|implementation|interval|isolation|level|location|mechanism|mode|paths?|ports?"
    r"|principal|protocol|providers?|region|schema|scope|timezone|type|ur[il]s?|user(?:name)?|version|warehouse|zone",
    re.IGNORECASE,
)
"""Last words of names that show what their value is, and that it is no secret."""
_LAST_WORD = re.compile(r"(?:(?:User|Driver)Name|[A-Z][a-z]+|(?<![a-z])[a-z]+|[A-Z]+)\Z")

_COMMON = re.compile(
    r"""\*+|\d{1,5}|\d+(?:\.\d+)?\s?(?:[kmgtp]i?b?|b|bytes|[num]?s|min|h|d|seconds?|minutes?|hours?|days?)
    |true|false|none|null|yes|default|required|optional|simple|plain|basic|bearer|digest|kerberos|nosasl
    |localhost|local|main|master|spark|sparkstream|hive|hadoop|kafka|delta|iceberg|parquet|json|avro|jdbc
    |derby|postgres(?:ql)?|mysql|mariadb|oracle|sqlserver|root|admin(?:istrator)?|user(?:name)?|guest|tests?|testing
    |public|private|prod(?:uction)?|dev(?:elop(?:ment)?)?|stag(?:e|ing)|example|demo|sample|passw(?:or)?d|secret|token
    |change(?:it|me)|thrift|session|connect|server|client|driver|tables?|schemas?|databases?|catalogs?|views?|columns?
    |names?|values?|types?|data|files?|path|folder|append|overwrite|merge|earliest|latest|string|double|float|decimal
    |boolean|integer|bigint|timestamp|date|time|interval|error|warn(?:ing)?|info|debug|trace|select|from|where|group
    |order|insert|update|delete|create|drop|with|windows?""",
    re.IGNORECASE | re.VERBOSE,
)
_CLASS = re.compile(r"(?:[a-z][a-z0-9_]*\.){2,}[A-Z][A-Za-z0-9_]*(?:\$\w+)*")


_KAFKA = (
    "bootstrap.servers client.id client.id.prefix client.dns.lookup client.rack group.id "
    "group.instance.id group.protocol auto.offset.reset allow.auto.create.topics check.crcs "
    "auto.commit.interval.ms enable.auto.commit exclude.internal.topics isolation.level fetch.max.bytes "
    "fetch.max.wait.ms fetch.min.bytes max.partition.fetch.bytes max.poll.records max.poll.interval.ms "
    "heartbeat.interval.ms session.timeout.ms partition.assignment.strategy "
    "partition.discovery.interval.ms request.timeout.ms retries default.api.timeout.ms "
    "connections.max.idle.ms metadata.max.age.ms metadata.max.idle.ms receive.buffer.bytes "
    "send.buffer.bytes reconnect.backoff.ms reconnect.backoff.max.ms retry.backoff.ms "
    "retry.backoff.max.ms socket.connection.setup.timeout.ms socket.connection.setup.timeout.max.ms "
    "metrics.num.samples metrics.sample.window.ms acks batch.size buffer.memory compression.type "
    "delivery.timeout.ms enable.idempotence linger.ms max.block.ms max.in.flight.requests.per.connection "
    "max.request.size transaction.timeout.ms transactional.id key.serializer value.serializer "
    "key.deserializer value.deserializer security.protocol sasl.mechanism sasl.kerberos.service.name "
    "sasl.client.callback.handler.class sasl.login.callback.handler.class ssl.protocol "
    "ssl.enabled.protocols ssl.cipher.suites ssl.endpoint.identification.algorithm ssl.keystore.type "
    "ssl.keystore.location ssl.truststore.type ssl.truststore.location config.providers "
    "config.providers.file.class "
)
"""Settings of Kafka's client that hold no secret."""

_SOURCES = (
    "dbtable query header sep delimiter encoding charset quote escape chartoescapequoteescaping comment "
    "inferschema preferdate enforceschema ignoreleadingwhitespace ignoretrailingwhitespace nullvalue "
    "emptyvalue nanvalue positiveinf negativeinf dateformat timestampformat timestampntzformat "
    "enabledatetimeparsingfallback maxcolumns maxcharspercolumn columnnameofcorruptrecord multiline "
    "locale linesep unescapedquotehandling codec escapequotes quoteall primitivesasstring prefersdecimal "
    "allowcomments allowunquotedfieldnames allowsinglequotes allownumericleadingzeros "
    "allowbackslashescapinganycharacter allowunquotedcontrolchars allownonnumericnumbers "
    "dropfieldifallnull samplingratio ignorenullfields singlevariantcolumn pretty mergeschema "
    "datetimerebasemode int96rebasemode wholetext avroschema recordname recordnamespace ignoreextension "
    "positionalfieldmatching enablestableidentifiersforuniontype rowtag roottag declaration "
    "arrayelementname attributeprefix valuetag excludeattribute ignoresurroundingspaces ignorenamespace "
    "wildcardcolname validatename treatemptyvaluesasnulls maxfilespertrigger maxbytespertrigger "
    "maxfileage maxcachedfiles discardcachedinputratio latestfirst filenameonly cleansource "
    "sourcearchivedir recursivefilelookup pathglobfilter modifiedafter modifiedbefore ignorecorruptfiles "
    "ignoremissingfiles topic subscribe subscribepattern assign startingoffsets startingtimestamp "
    "startingoffsetsbytimestamp startingoffsetsbytimestampstrategy endingoffsets endingtimestamp "
    "endingoffsetsbytimestamp failondataloss kafkaconsumer.polltimeoutms fetchoffset.numretries "
    "fetchoffset.retryintervalms maxoffsetspertrigger minoffsetspertrigger maxtriggerdelay minpartitions "
    "maxrecordsperpartition groupidprefix includeheaders includetimestamp rowspersecond rampuptime "
    "numpartitions rowsperbatch starttimestamp advancemillisperbatch ignorechanges ignoredeletes "
    "skipchangecommits startingversion endingversion readchangefeed readchangedata witheventtimeorder "
    "versionasof timestampasof branch tag snapshot-id as-of-timestamp start-snapshot-id end-snapshot-id "
    "stream-from-timestamp streaming-skip-delete-snapshots streaming-skip-overwrite-snapshots "
    "streaming-max-files-per-micro-batch streaming-max-rows-per-micro-batch split-size lookback "
    "partitioncolumn lowerbound upperbound fetchsize batchsize querytimeout isolationlevel "
    "pushdownpredicate "
)
"""Options of Spark's sources and sinks, of Delta's and of Iceberg's that hold no secret, in lower case."""

_OF_KAFKA, _OF_SOURCES = frozenset(_KAFKA.split()), frozenset(_SOURCES.split())


def is_secret(name: str) -> bool:
    """True if a setting of this name holds a secret, such as `spark.hadoop.fs.s3a.secret.key`."""
    if name.startswith(ENV_SECRET):
        return True
    return _SECRET.search(name) is not None and _NO_SECRET.search(name) is None


def holds_none(name: str) -> bool:
    """True if a name doesn't look like that of a secret."""
    return not is_secret(name)


def is_harmless(name: str) -> bool:
    """True if a setting of this name is known to hold no secret."""
    if is_secret(name) or _ENVIRONMENT.search(name):
        return False
    return _OF_SPARK.match(name) is not None or _ends_harmlessly(name)


def is_harmless_option(name: str) -> bool:
    """True if an option of a source or sink, such as `subscribe` or `kafka.group.id`, is known to hold no secret."""
    known = name.casefold() in _OF_SOURCES or is_of_kafka(name.casefold().removeprefix("kafka."))
    return not is_secret(name) and (known or _ends_harmlessly(name))


def is_of_kafka(name: str) -> bool:
    """True if a setting of Kafka's client is known to hold no secret."""
    return name in _OF_KAFKA


def _ends_harmlessly(name: str) -> bool:
    last = _LAST_WORD.search(name)
    return last is not None and _ENDS.fullmatch(last[0]) is not None


def is_common(value: str) -> bool:
    """True if a value is a port, size, time, word or class of Java's that is common where nothing is secret, too."""
    return _COMMON.fullmatch(value) is not None or _CLASS.fullmatch(value) is not None
