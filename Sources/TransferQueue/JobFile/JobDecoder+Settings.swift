import TransferCore

extension JobDecoder {
    static let retryLimits = 0...1_000_000
    static let retryBases = 2...100
    static let statusCodes = 100...599
    static let redirectLimits = 0...100

    /// Reads a key that a job shares with the defaults of its batch, into what those have set.
    mutating func rule(_ key: JobKey, of rules: inout JobDefaults) throws(JSONFault) {
        switch key {
        case .priority: rules.priority = try integer(Self.priorities) ?? 0
        case .segments: rules.segments = try integer(Self.segments) ?? 1
        case .ifExists: rules.ifExists = try word(JobSpec.IfExists.self) ?? .verify
        case .adopt: rules.adopt = try word(JobSpec.Adopt.self) ?? .proven
        case .strict: rules.strict = try boolean() ?? false
        case .remoteTime: rules.remoteTime = try boolean() ?? true
        case .protocol: rules.uploadProtocol = try word(JobSpec.UploadProtocol.self) ?? .put
        case .s3: try s3(into: &rules.settings.s3)
        case .ssh: try ssh(into: &rules.settings.ssh)
        case .ftp: try ftp(into: &rules.settings.ftp)
        case .chunkSize: rules.upload.chunkSize = try chunkSize()
        case .parallel: rules.upload.parallel = try integer(Self.parallelRequests)
        case .createFolders: rules.upload.createFolders = try boolean() ?? false
        case .inplace: rules.upload.inPlace = try boolean() ?? false
        case .ifChanged: rules.upload.ifChanged = try word(JobSpec.Upload.IfChanged.self) ?? .restart
        case .success: rules.upload.success = try success()
        case .metadata: try fields(into: &rules.upload.metadata)
        case .fields: try fields(into: &rules.upload.fields)
        case .fileField: rules.upload.fileField = try string { $0.isEmpty ? "the name is empty" : nil } ?? "file"
        case .tus: try tus(into: &rules.upload.tus)
        case .checksums: rules.checksums = try checksums()
        case .headers: try headers(into: &rules.settings.headers)
        case .retry: try retry(into: &rules.settings.retry)
        case .connectTimeout: rules.settings.connectTimeout = try duration()
        case .timeout: rules.settings.timeout = try duration()
        case .maxTime: rules.settings.maxTime = try duration()
        case .lowSpeed: try lowSpeed(into: &rules.settings.lowSpeed)
        case .limitRate: rules.settings.limitRate = try rateLimit()
        case .proxy: try proxy(into: &rules.settings.proxy)
        case .noProxy:
            rules.noProxy = try string {
                HeaderRule.refusal(ofValue: $0) == nil ? nil : "a list of hosts, comma-separated"
            }
        case .tls: try tls(into: &rules.settings.tls)
        case .auth: if let auth = try auth() { rules.settings.auth = auth }
        case .network: try network(into: &rules)
        case .maxRedirects: rules.settings.maxRedirects = try integer(Self.redirectLimits)
        case .id, .download, .upload, .to, .checksum, .pieces, .needs, .method, .body: try reader.skipValue()
        }
    }

    /// 0 is no limit, as in curl and aria2; so a job can lift the one of its batch.
    mutating func rateLimit() throws(JSONFault) -> Int64? {
        let value = try byteCount()
        return value == 0 && !isTrusted ? nil : value
    }

    private mutating func retry(into retry: inout RetrySettings) throws(JSONFault) {
        _ = try object(RetryKey.table) { (decoder, key) throws(JSONFault) in
            switch key {
            case .limit: retry.limit = try decoder.integer(Self.retryLimits)
            case .base: retry.base = try decoder.integer(Self.retryBases)
            case .scale: retry.scale = try decoder.duration(allowingZero: true)
            case .maxDelay: retry.maxDelay = try decoder.duration(allowingZero: true)
            case .maxWait: retry.maxWait = try decoder.duration(allowingZero: true)
            case .jitter: retry.jitter = try decoder.boolean()
            case .statusCodes:
                var codes: Set<Int> = []
                let isArray = try decoder.array("an array of statuses") { (decoder) throws(JSONFault) in
                    if let code = try decoder.integer(Self.statusCodes) { codes.insert(code) }
                }
                retry.statusCodes = isArray ? codes : nil
            case .methods:
                var methods: Set<String> = []
                let isArray = try decoder.array("an array of methods") { (decoder) throws(JSONFault) in
                    if let method = try decoder.string(HeaderRule.refusal(ofMethod:)) { methods.insert(method) }
                }
                retry.methods = isArray ? methods : nil
            }
        }
    }

    private mutating func lowSpeed(into lowSpeed: inout JobSettings.LowSpeed?) throws(JSONFault) {
        var value = lowSpeed ?? JobSettings.LowSpeed(rate: 1, time: .seconds(30))
        _ = try object(LowSpeedKey.table) { (decoder, key) throws(JSONFault) in
            switch key {
            case .rate: value.rate = try decoder.byteCount() ?? value.rate
            case .time: value.time = try decoder.duration() ?? value.time
            }
        }
        lowSpeed = value
    }
}
