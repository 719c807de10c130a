import TransferCore

extension JobSpec {
    /// The job as one line of JSON, in the grammar of a job file: keys in a fixed order, nothing that is a default.
    ///
    /// Equal jobs have equal text, and `init(canonicalJSON:)` makes the same job of it.
    public var canonicalJSON: String {
        var writer = CanonicalWriter()
        writer.job(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Appends `canonicalJSON` to a buffer, which many jobs can share.
    public func appendCanonicalJSON(to bytes: inout [UInt8]) {
        var writer = CanonicalWriter(bytes: bytes)
        bytes = []
        writer.job(self)
        bytes = writer.bytes
    }

    /// - Parameter canonicalJSON: What `canonicalJSON` gave. Its values are not checked again.
    /// - Throws: `JobFileFault` when the bytes are no job.
    public init(canonicalJSON: UnsafeRawBufferPointer) throws(JobFileFault) {
        let bytes = canonicalJSON.bindMemory(to: UInt8.self)
        var decoder = JobDecoder(JSONReader(bytes), sums: .none, isTrusted: true)
        do {
            let spec = try decoder.job().spec
            try decoder.reader.expectEnd()
            if let spec {
                self = spec
                return
            }
        } catch {
            decoder.note(error.message, error.range)
        }
        let problem = decoder.takeProblems().kept.first ?? Problem(message: "not a job", range: 0..<1)
        throw FaultContext(bytes: bytes, base: SourceCursor(), path: "$").fault(problem, quoting: false)
    }

    /// - Throws: `JobFileFault` when the text is no job.
    public init(canonicalJSON: String) throws(JobFileFault) {
        var text = canonicalJSON
        let result: Result<JobSpec, JobFileFault> = text.withUTF8 { bytes in
            Result { () throws(JobFileFault) in try JobSpec(canonicalJSON: UnsafeRawBufferPointer(bytes)) }
        }
        self = try result.get()
    }
}

extension ChecksumSource {
    /// For jobs whose checksums were looked up before.
    fileprivate static var none: ChecksumSource { ChecksumSource { _ in [] } }
}

extension CanonicalWriter {
    fileprivate mutating func job(_ spec: JobSpec) {
        object { writer in
            if let id = spec.id { writer.member(.id, id) }
            switch spec.work {
            case .download(let download): writer.download(download)
            case .upload(let upload): writer.upload(upload)
            }
            if !spec.needs.isEmpty { writer.member(.needs, spec.needs) }
            if spec.priority != 0 { writer.member(.priority, spec.priority) }
            writer.settings(spec.settings)
        }
    }

    private mutating func download(_ download: JobSpec.Download) {
        if download.urls.count == 1 {
            member(.download, download.urls[0])
        } else {
            member(.download, download.urls)
        }
        member(.to, download.destination)
        if let checksum = download.checksum { member(.checksum, checksum.description) }
        if download.segments != 1 { member(.segments, download.segments) }
        if download.ifExists != .verify { member(.ifExists, download.ifExists.rawValue) }
        if let method = download.method { member(.method, method) }
        if let body = download.body { member(.body, body) }
        if !download.remoteTime { member(.remoteTime, false) }
    }

    private mutating func upload(_ upload: JobSpec.Upload) {
        member(.upload, upload.source)
        member(.to, upload.url)
        if upload.uploadProtocol != .put { member(.protocol, upload.uploadProtocol.rawValue) }
        if let method = upload.method { member(.method, method) }
        if let checksum = upload.checksum { member(.checksum, checksum.description) }
        let options = upload.options
        if let size = options.chunkSize { member(.chunkSize, Int(size)) }
        if let parallel = options.parallel { member(.parallel, parallel) }
        if options.createFolders { member(.createFolders, true) }
        if options.ifChanged != .restart { member(.ifChanged, options.ifChanged.rawValue) }
        fields(.metadata, options.metadata)
        fields(.fields, options.fields)
        if options.fileField != "file" { member(.fileField, options.fileField) }
    }

    private mutating func fields(_ key: JobKey, _ fields: [JobSpec.Upload.Field]) {
        guard !fields.isEmpty else { return }
        self.key(key)
        object { writer in
            for field in fields {
                writer.key(field.name)
                writer.secret(field.value)
            }
        }
    }

    private mutating func settings(_ settings: JobSettings) {
        if !settings.headers.isEmpty {
            key(JobKey.headers)
            object { writer in
                for header in settings.headers {
                    writer.key(header.name)
                    writer.secret(header.value)
                }
            }
        }
        if settings.retry != RetrySettings() { retry(settings.retry) }
        if let value = settings.connectTimeout { member(.connectTimeout, value) }
        if let value = settings.timeout { member(.timeout, value) }
        if let value = settings.lowSpeed {
            key(JobKey.lowSpeed)
            object { writer in
                writer.key(LowSpeedKey.rate)
                writer.integer(Int(value.rate))
                writer.key(LowSpeedKey.time)
                writer.duration(value.time)
            }
        }
        if let value = settings.maxTime { member(.maxTime, value) }
        if let value = settings.limitRate { member(.limitRate, Int(value)) }
        if let proxy = settings.proxy {
            self.proxy(proxy)
            if let noProxy = proxy.noProxy { member(.noProxy, noProxy) }
        }
        if settings.tls != JobSettings.TLSSettings() { tls(settings.tls) }
        if let value = settings.auth { auth(value) }
        if let value = settings.maxRedirects { member(.maxRedirects, value) }
        if let access = settings.s3 {
            key(JobKey.s3)
            s3(access)
        }
        if let access = settings.ssh {
            key(JobKey.ssh)
            ssh(access)
        }
        if let access = settings.ftp {
            key(JobKey.ftp)
            ftp(access)
        }
        if settings.network != NetworkPolicy() {
            key(JobKey.network)
            network(settings.network)
        }
    }

    private mutating func retry(_ retry: RetrySettings) {
        key(JobKey.retry)
        object { writer in
            if let value = retry.limit {
                writer.key(RetryKey.limit)
                writer.integer(value)
            }
            if let value = retry.base {
                writer.key(RetryKey.base)
                writer.integer(value)
            }
            if let value = retry.scale {
                writer.key(RetryKey.scale)
                writer.duration(value)
            }
            if let value = retry.maxDelay {
                writer.key(RetryKey.maxDelay)
                writer.duration(value)
            }
            if let value = retry.jitter {
                writer.key(RetryKey.jitter)
                writer.boolean(value)
            }
            if let value = retry.statusCodes {
                writer.key(RetryKey.statusCodes)
                writer.array(value.sorted()) { $0.integer($1) }
            }
            if let value = retry.methods {
                writer.key(RetryKey.methods)
                writer.array(value.sorted()) { $0.string($1) }
            }
        }
    }

    private mutating func proxy(_ proxy: JobSettings.Proxy) {
        guard let credentials = proxy.credentials else { return member(.proxy, proxy.url) }
        key(JobKey.proxy)
        object { writer in
            writer.key(ProxyKey.url)
            writer.string(proxy.url)
            writer.key(ProxyKey.user)
            writer.secret(credentials.user)
            writer.key(ProxyKey.password)
            writer.secret(credentials.password)
        }
    }

    private mutating func tls(_ tls: JobSettings.TLSSettings) {
        key(JobKey.tls)
        object { writer in
            for (name, value) in [(TLSKey.ca, tls.ca), (.cert, tls.cert), (.key, tls.key)] {
                guard let value else { continue }
                writer.key(name)
                writer.string(value)
            }
            if let passphrase = tls.keyPassphrase {
                writer.key(TLSKey.keyPassphrase)
                writer.secret(passphrase)
            }
            guard !tls.pins.isEmpty else { return }
            writer.key(TLSKey.pins)
            writer.array(tls.pins) { $0.string($1) }
        }
    }

    private mutating func auth(_ auth: JobSettings.Auth) {
        key(JobKey.auth)
        object { writer in
            switch auth {
            case .netrc:
                writer.key(AuthKey.netrc)
                writer.boolean(true)
            case .bearer(let token):
                writer.key(AuthKey.bearer)
                writer.secret(token)
            case .basic(let user, let password):
                writer.key(AuthKey.user)
                writer.secret(user)
                writer.key(AuthKey.password)
                writer.secret(password)
            }
        }
    }

    mutating func secret(_ secret: SecretText) {
        let (name, value): (SecretKey, String)
        switch secret {
        case .literal(let text): return string(text)
        case .environment(let text): (name, value) = (.env, text)
        case .file(let text): (name, value) = (.file, text)
        case .credential(let text): (name, value) = (.credential, text)
        }
        object { writer in
            writer.key(name)
            writer.string(value)
        }
    }

    private mutating func member(_ name: JobKey, _ value: String) {
        key(name)
        string(value)
    }

    private mutating func member(_ name: JobKey, _ value: Int) {
        key(name)
        integer(value)
    }

    private mutating func member(_ name: JobKey, _ value: Bool) {
        key(name)
        boolean(value)
    }

    private mutating func member(_ name: JobKey, _ value: Duration) {
        key(name)
        duration(value)
    }

    private mutating func member(_ name: JobKey, _ values: [String]) {
        key(name)
        array(values) { $0.string($1) }
    }
}
