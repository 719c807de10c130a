import TransferCore

/// The keys of the settings that uploads and downloads share.
package enum SettingsFields {
    package static let rows: [JobField] = [
        JobField(settings: headers),
        JobField(
            settings: Field(
                "retry", \.retry, retry, standard: RetrySettings(),
                "The rule for further attempts: how often and how long a job is tried again.")),
        JobField(settings: connectTimeout),
        JobField(settings: timeout),
        JobField(settings: lowSpeed),
        JobField(settings: Field("maxTime", \.maxTime, .duration, "The longest time that one attempt may take.")),
        JobField(
            settings: Field(
                "limitRate", \.limitRate, .rateLimit,
                "The largest number of bytes a second for this job; 0 for no limit.")),
        JobField(
            settings: Field(
                "congestion", \.congestion, .congestion, standard: #""auto""#,
                "The congestion control of connections that send: a name of the kernel's, \"system\" or \"auto\". The "
                    + "value \"system\" is the machine's own. The value \"auto\" is the machine's own too, and bbr "
                    + "where the link loses packets.")),
        JobField(
            settings: Field(
                "background", \.isBackground, .boolean, standard: false,
                "Whether the job leaves room to other traffic on the same link. It then slows down as soon as packets "
                    + "wait in a queue.")),
        JobField(settings: AccessFields.proxy),
        JobField(settings: noProxy),
        JobField(settings: tlsRules),
        JobField(settings: AccessFields.auth),
        JobField(settings: cookies),
        JobField(settings: httpVersion),
        JobField(settings: maxRedirects),
        JobField(settings: s3),
        JobField(settings: ssh),
        JobField(settings: ftp),
        JobField(settings: FinishFields.onFinish),
        JobField(
            settings: Field(
                "worker", \.worker, WorkerFields.all, standard: WorkerRule(),
                "The workers of a shared queue that may do the job (transfer work). A queue of one machine accepts no "
                    + "such job."), .defaults),
        // A fault about the network is reported at the place in the job file that sets the rule.
        JobField(
            "network", [.defaults, .watch], .all,
            FieldNote(
                "The links of the machine that may be used, and when.",
                NetworkFields.all.note("network", isMerged: true)),
            [
                .settings(
                    FieldOutput("network") { writer, settings in
                        guard settings.network != NetworkPolicy() else { return }
                        writer.key("network")
                        NetworkFields.all.write(&writer, settings.network)
                    })
            ],
            unset: { rules in
                rules.settings.network = NetworkPolicy()
                rules.networkRanges = [:]
            }
        ) { (decoder, draft) throws(JSONFault) in try NetworkDecoder.read(&decoder, into: &draft.rules) },
    ]

    static let headers = Field<JobSettings>(
        FieldNote(
            "The names and values of header fields. Secret values, such as that of Authorization, are named: {\"env\": "
                + "\"TOKEN\"}.",
            schema: ##""type": "object", "additionalProperties": { "anyOf": [{ "type": "string" }, "##
                + ##"{ "$ref": "#/$defs/secretName" }, { "type": "null" }] }"##),
        FieldOutput(
            "headers",
            hash: { hash, settings in
                for header in settings.headers {
                    guard let value = header.lasting else { continue }
                    hash.add(header.name.lowercased())
                    hash.add("\(value)")
                }
            },
            secrets: FieldSecrets { settings in
                settings.headers.map(\.value)
            } isWrittenOut: { settings in
                settings.headers.contains { $0.isWrittenOutSecret }
            } redact: { settings in
                for index in settings.headers.indices where settings.headers[index].isWrittenOutSecret {
                    settings.headers[index].value = .blank
                }
            }
        ) { writer, settings in
            guard !settings.headers.isEmpty else { return }
            writer.key("headers")
            writer.object { writer in
                for header in settings.headers {
                    writer.key(header.name)
                    header.value.write(to: &writer)
                }
            }
        }, copy: { $0.headers = $1.headers }
    ) { (decoder, settings) throws(JSONFault) in try SecretDecoder.headers(&decoder, into: &settings.headers) }

    package static let retry = ObjectFields<RetrySettings>([
        Field(
            "limit", \.limit, .integer(FieldRanges.retries), standard: "10",
            "The number of attempts after the first."),
        Field(
            "base", \.base, .integer(FieldRanges.retryBases), standard: "2",
            "The factor by which the delay grows from one attempt to the next."),
        Field("scale", \.scale, .delay, standard: #""1s""#, "The first delay."),
        Field("maxDelay", \.maxDelay, .delay, standard: #""60s""#, "The longest delay."),
        Field(
            "maxWait", \.maxWait, .delay, standard: #""24h""#,
            "The longest total of the waits that servers ask for, since the last byte that was made durable."),
        Field("jitter", \.jitter, .boolean, standard: "true", "Whether delays are spread at random."),
        Field(
            "statusCodes", \.statusCodes, .statuses,
            "The status codes after which a job is tried again. By default, the class of the status decides."),
        Field("methods", \.methods, .methods, "The methods whose requests may be sent again."),
    ])

    package static let lowSpeedKeys = ObjectFields<JobSettings.LowSpeed>([
        Field(always: "rate", \.rate, .byteRate, standard: "1", "The rate, in bytes a second."),
        Field(always: "time", \.time, .duration, standard: #""30s""#, "The time for which a transfer may be slower."),
    ])

    private static let pins = FieldCodec<[String]>(
        schema: #""type": "array", "items": { "type": "string", "pattern": "^sha256/[A-Za-z0-9+/]{43}=$" }"#
    ) { decoder throws(JSONFault) in
        var pins: [String] = []
        _ = try decoder.array("an array of pins") { (decoder) throws(JSONFault) in
            if let pin = try decoder.string(PinRule.refusal(of:)) { pins.append(pin) }
        }
        return pins
    }

    package static let tls = ObjectFields<JobSettings.TLSSettings>([
        Field("ca", \.ca, .path, "A PEM file with the only authorities to trust."),
        Field("cert", \.cert, .path, "The client's certificate, as PEM, DER, or PKCS#12, which contains the key too."),
        Field("key", \.key, .path, "The private key of the certificate."),
        Field(secret: "keyPassphrase", \.keyPassphrase, .secret("a passphrase"), "The passphrase of an encrypted key."),
        Field("pins", \.pins, pins, standard: [], "The digests of public keys, one of which the server must have."),
        Field(
            "insecure", \.insecure, .boolean, standard: false,
            "Whether any server is accepted without proof of its identity. Single jobs may set it, and defaults may "
                + "not."),
    ])
}

extension JobSettings.HeaderSetting {
    fileprivate var isWrittenOutSecret: Bool { value.isWrittenOut && Redaction.isSecretHeader(name) }
}
