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
            writer.member(JobKey.id, spec.id)
            switch spec.work {
            case .download(let download): writer.download(download)
            case .upload(let upload): writer.upload(upload)
            }
            if !spec.needs.isEmpty { writer.member(JobKey.needs, spec.needs) }
            if spec.priority != 0 { writer.member(JobKey.priority, spec.priority) }
            writer.settings(spec.settings)
        }
    }

    private mutating func download(_ download: JobSpec.Download) {
        if download.urls.count == 1 {
            member(JobKey.download, download.urls[0])
        } else {
            member(JobKey.download, download.urls)
        }
        member(JobKey.to, download.destination)
        member(JobKey.checksum, download.checksum?.description)
        if let pieces = download.pieces {
            key(JobKey.pieces)
            object { writer in
                writer.member(PiecesKey.length, Int(pieces.length))
                writer.member(PiecesKey.digests, pieces.digests.map(\.description))
            }
        }
        if download.segments != 1 { member(JobKey.segments, download.segments) }
        if download.ifExists != .verify { member(JobKey.ifExists, download.ifExists.rawValue) }
        if download.adopt != .proven { member(JobKey.adopt, download.adopt.rawValue) }
        if download.strict { member(JobKey.strict, true) }
        member(JobKey.method, download.method)
        member(JobKey.body, download.body)
        if !download.remoteTime { member(JobKey.remoteTime, false) }
    }

    private mutating func upload(_ upload: JobSpec.Upload) {
        member(JobKey.upload, upload.source)
        member(JobKey.to, upload.url)
        if upload.uploadProtocol != .put { member(JobKey.protocol, upload.uploadProtocol.rawValue) }
        member(JobKey.method, upload.method)
        member(JobKey.checksum, upload.checksum?.description)
        let options = upload.options
        member(JobKey.chunkSize, options.chunkSize.map { Int($0) })
        member(JobKey.parallel, options.parallel)
        if options.createFolders { member(JobKey.createFolders, true) }
        if options.inPlace { member(JobKey.inplace, true) }
        if options.ifChanged != .restart { member(JobKey.ifChanged, options.ifChanged.rawValue) }
        member(JobKey.success, options.success?.sorted())
        fields(.metadata, options.metadata)
        fields(.fields, options.fields)
        if options.fileField != "file" { member(JobKey.fileField, options.fileField) }
        guard options.tus != JobSpec.Upload.Tus() else { return }
        key(JobKey.tus)
        object { writer in
            writer.member(TusKey.checksum, options.tus.checksum?.rawValue)
            if options.tus.createsWithUpload { writer.member(TusKey.createWithUpload, true) }
        }
    }

    private mutating func fields(_ key: JobKey, _ fields: [JobSpec.Upload.Field]) {
        guard !fields.isEmpty else { return }
        self.key(key)
        object { writer in
            for field in fields {
                writer.key(field.name)
                field.value.write(to: &writer)
            }
        }
    }

    private mutating func settings(_ settings: JobSettings) {
        if !settings.headers.isEmpty {
            key(JobKey.headers)
            object { writer in
                for header in settings.headers {
                    writer.key(header.name)
                    header.value.write(to: &writer)
                }
            }
        }
        if settings.retry != RetrySettings() { retry(settings.retry) }
        member(JobKey.connectTimeout, settings.connectTimeout)
        member(JobKey.timeout, settings.timeout)
        if let value = settings.lowSpeed {
            key(JobKey.lowSpeed)
            object { writer in
                writer.member(LowSpeedKey.rate, Int(value.rate))
                writer.member(LowSpeedKey.time, value.time)
            }
        }
        member(JobKey.maxTime, settings.maxTime)
        member(JobKey.limitRate, settings.limitRate.map { Int($0) })
        if let proxy = settings.proxy {
            self.proxy(proxy)
            member(JobKey.noProxy, proxy.noProxy)
        }
        if settings.tls != JobSettings.TLSSettings() { tls(settings.tls) }
        if let value = settings.auth { auth(value) }
        member(JobKey.maxRedirects, settings.maxRedirects)
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
            writer.member(RetryKey.limit, retry.limit)
            writer.member(RetryKey.base, retry.base)
            writer.member(RetryKey.scale, retry.scale)
            writer.member(RetryKey.maxDelay, retry.maxDelay)
            writer.member(RetryKey.maxWait, retry.maxWait)
            writer.member(RetryKey.jitter, retry.jitter)
            writer.member(RetryKey.statusCodes, retry.statusCodes?.sorted())
            writer.member(RetryKey.methods, retry.methods?.sorted())
        }
    }

    private mutating func proxy(_ proxy: JobSettings.Proxy) {
        guard let credentials = proxy.credentials else { return member(JobKey.proxy, proxy.url) }
        key(JobKey.proxy)
        object { writer in
            writer.member(ProxyKey.url, proxy.url)
            writer.member(ProxyKey.user, credentials.user)
            writer.member(ProxyKey.password, credentials.password)
        }
    }

    private mutating func tls(_ tls: JobSettings.TLSSettings) {
        key(JobKey.tls)
        object { writer in
            writer.member(TLSKey.ca, tls.ca)
            writer.member(TLSKey.cert, tls.cert)
            writer.member(TLSKey.key, tls.key)
            writer.member(TLSKey.keyPassphrase, tls.keyPassphrase)
            writer.member(TLSKey.pins, tls.pins.isEmpty ? nil : tls.pins)
        }
    }

    private mutating func auth(_ auth: JobSettings.Auth) {
        key(JobKey.auth)
        object { writer in
            switch auth {
            case .netrc(let user):
                writer.member(AuthKey.netrc, true)
                writer.member(AuthKey.user, user)
            case .bearer(let token): writer.member(AuthKey.bearer, token)
            case .basic(let user, let password):
                writer.member(AuthKey.user, user)
                writer.member(AuthKey.password, password)
            }
        }
    }
}
