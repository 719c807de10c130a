import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling
import TransferUpload

/// The builder of exchanges from the descriptions of jobs.
struct RequestBuilder: Sendable {
    let userAgent: String
    let proxies: ProxyRule
    var secrets: SecretSource
    /// The cookies of the attempt that the requests belong to.
    var cookies: JourneyCookies?
    let tlsRules = TLSRulesCache()
    private let plainRules = PlainRulesCache()
    let regions = ObjectRegions()
    let accounts = AccountMemory()
    /// The servers' known requests for passwords. Without this memory, each body would be sent twice.
    private let authentication = AuthenticationMemory()

    /// Returns the object that a download requests; `nil` for other URLs.
    func object(_ spec: JobSpec, url: String) throws(TransferError) -> S3Location? {
        guard S3URL.isOne(url) else { return nil }
        return regions.place(try (spec.settings.s3 ?? JobSettings.S3Access()).location(url, secrets))
    }

    func download(
        _ spec: JobSpec, _ download: JobSpec.Download, url: String, object: S3Location?, ready: ReadyDownload
    ) throws(TransferError) -> ExchangeRequest {
        var request = ExchangeRequest(
            url: url, method: download.method ?? "GET", headers: try headers(spec.settings),
            intent: .representation(ready.resume), settings: try settings(spec.settings, for: url))
        request.held = ready.held
        request.replaced = ready.replaced
        // A digest proves more than a length.
        request.settings.openEnd = download.isProvenByDigests ? .taken : download.strict ? .refused : .asked
        if let object {
            if case .representation(var point?) = request.intent {
                // The signature is valid only for the object's own URL.
                point.placeURL = nil
                request.intent = .representation(point)
            }
            try sign(&request, for: object, spec.settings)
        }
        // S3 may require a signature for each field, and file servers have no fields.
        if object == nil, download.checksum == nil, request.method == "GET", url.hasPrefix("http") {
            request.headers.append(ReprDigest.request)
        }
        if download.compressed, object != nil || url.hasPrefix("http") {
            request.settings.decodesFiles = true
            // An answer that decodes to more than the declared size is wrong, even if it was small on the wire.
            request.settings.maxDecodedLength = download.size
            if request.headers.value("Accept-Encoding") == nil { request.headers.append(Self.codings) }
        }
        if let body = download.body { request.body = .bytes(Array(body.utf8)) }
        return try onJourney(request, spec.settings)
    }

    private func sign(
        _ request: inout ExchangeRequest, for object: S3Location, _ settings: JobSettings
    ) throws(TransferError) {
        let access = settings.s3 ?? JobSettings.S3Access()
        request.url = object.url
        request.headers += try object.fields(
            method: request.method, credentials: try access.credentials(secrets), now: WallClock.seconds)
        // AWS's own redirects lead to the bucket's region, which needs another signature.
        request.settings.followsRedirects = object.endpoint != nil
        request.settings.keptOfRefusals = 16 << 10
    }

    /// Builds a request for the source of a copy, or for a part of it.
    ///
    /// - Parameter link: The only network link that the request may use.
    func source(
        _ from: CopySource, url: String, point: ResumePoint?, over link: String?
    ) throws(TransferError) -> ExchangeRequest {
        let spec = from.job
        var request = ExchangeRequest(
            url: url, method: from.download.method ?? "GET", headers: try headers(spec.settings),
            intent: .representation(point), settings: try settings(spec.settings, for: url))
        // A waiting transfer must have a connection of its own: over HTTP/2, libcurl would buffer what arrives
        // meanwhile.
        request.settings.route.speaksHTTP1Only = true
        request.settings.idleTimeout = request.settings.lowSpeedTime
        if let link { request.settings.link = link }
        if let object = try object(spec, url: url) { try sign(&request, for: object, spec.settings) }
        if let body = from.download.body { request.body = .bytes(Array(body.utf8)) }
        return try onJourney(request, spec.settings)
    }

    /// The content codings that can be decoded, the most effective first.
    private static let codings = HeaderField(
        "Accept-Encoding", ContentCoding.decodable.joined(separator: ", "))

    /// Builds a request for the state of a download at the server, without its body.
    func inquiry(_ spec: JobSpec, url: String) throws(TransferError) -> ExchangeRequest {
        var request = ExchangeRequest(
            url: url, method: "HEAD", headers: try headers(spec.settings),
            settings: try settings(spec.settings, for: url)
        )
        if let object = try object(spec, url: url) {
            let access = spec.settings.s3 ?? JobSettings.S3Access()
            request.url = object.url
            request.headers += try object.fields(
                method: "HEAD", credentials: try access.credentials(secrets), now: WallClock.seconds)
        } else {
            request.headers.append(ReprDigest.request)
        }
        // Another coding is another version to the server.
        if spec.isCompressed, request.headers.value("Accept-Encoding") == nil { request.headers.append(Self.codings) }
        return try onJourney(request, spec.settings)
    }

    /// Builds a request for an answer of any status, which is no file.
    func message(_ spec: JobSpec, _ download: JobSpec.Download, url: String) throws(TransferError) -> ExchangeRequest {
        var request = ExchangeRequest(
            url: url, method: download.method ?? "GET", headers: try headers(spec.settings),
            settings: try settings(spec.settings, for: url))
        request.settings.timeouts.lostPaths = .kept
        if download.compressed {
            request.settings.decodes = true
            if request.headers.value("Accept-Encoding") == nil { request.headers.append(Self.codings) }
        }
        if let body = download.body { request.body = .bytes(Array(body.utf8)) }
        return try onJourney(request, spec.settings)
    }

    func upload(_ spec: JobSpec, _ upload: JobSpec.Upload, file: SourceFile) throws(TransferError) -> ExchangeRequest {
        let resends = !spec.mustNotRepeat
        if let rules = plainRules.find(spec.sharedSettings, resends),
            JobSpec.UploadProtocol.of(url: upload.url)?.entry.connect == nil
        {
            return ExchangeRequest(
                url: upload.url, method: spec.method, headers: typed(rules.headers, of: spec, .file(file), upload.url),
                body: .file(file), intent: .message, settings: rules.settings, cookies: cookies)
        }
        var settings = try settings(spec.settings, for: upload.url)
        // Once the body has been sent, the server is asked whether it arrived.
        settings.resendsBody = false
        settings.joinsSmallBodies = resends
        settings.turnsRequests = false
        let headers = try headers(spec.settings)
        let shared = Shared(wrappedValue: settings)
        if spec.settings.namesNoUser, JobSpec.UploadProtocol.of(url: upload.url)?.entry.connect == nil {
            plainRules.keep(PlainRules(settings: shared, headers: headers), spec.sharedSettings, resends)
        }
        return try onJourney(
            ExchangeRequest(
                url: upload.url, method: spec.method, headers: typed(headers, of: spec, .file(file), upload.url),
                body: .file(file),
                intent: .message, settings: shared), spec.settings)
    }

    /// Builds a request of an upload's dialogue. The owner's fields and credentials go only to the origin that the job
    /// names.
    ///
    /// - Parameter source: The source, for requests that carry a part of it.
    func exchange(
        _ request: UploadRequest, of spec: JobSpec, source: UploadBytes?
    ) throws(TransferError) -> ExchangeRequest {
        var settings = try settings(spec.settings, for: request.url, owner: spec.urls.first)
        var fields = request.headers
        if request.ownersFields != .none, Origin(anyURL: request.url) == Origin(anyURL: spec.urls.first ?? "") {
            fields += try headers(spec.settings).filter {
                request.ownersFields.admits($0.name) && request.headers.value($0.name) == nil
            }
        } else {
            settings.credentials = .none
            if fields.value("User-Agent") == nil { fields.append(HeaderField("User-Agent", userAgent)) }
        }
        if case .upload(let upload) = spec.work {
            settings.files.createsFolders = upload.options.createFolders && request.body != .none
        }
        if let source, request.ownersFields == .all, case .source = request.body {
            // A form has its own content type.
            if request.headers.value("Content-Type") == nil, let labels = source.remote?.version?.labels {
                fields = labelled(fields, labels.contentFields + labels.timeFields)
            }
            fields = typed(fields, of: spec, source, request.url)
        }
        settings.followsRedirects = request.followsRedirects
        settings.turnsRequests = false
        // In such protocols, an interim answer does not end libcurl's wait for 100 (Continue).
        settings.expectsContinue = false
        // The server is asked first which bytes it has.
        settings.resendsBody = false
        settings.timeouts.lostPaths = .left
        let body: RequestBody
        switch request.body {
        case .none: body = .none
        case .bytes(let bytes): body = .bytes(bytes)
        case .source(let range, let prefix, let suffix):
            guard let source else { throw TransferError(.internalFault, "a request without its source") }
            body = source.body(range, prefix: prefix, suffix: suffix, sums: request.sums)
            // The idle time counts only if both sides are silent, not while one waits for the other.
            if source.remote != nil { settings.idleTimeout = settings.lowSpeedTime }
        }
        return try onJourney(
            ExchangeRequest(url: request.url, method: request.method, headers: fields, body: body, settings: settings),
            spec.settings)
    }

    /// Adds the shared state to a request: the attempt's cookies, and the memory of servers' password requests. The
    /// request goes to the server that the URL's name stands for.
    private func onJourney(_ request: ExchangeRequest, _ job: JobSettings) throws(TransferError) -> ExchangeRequest {
        var request = request
        request.cookies = cookies
        if let target = JobSpec.UploadProtocol.of(url: request.url)?.entry.target {
            request.url = try target(request.url, job, secrets)
            // A file is moved within one server.
            if let other = request.headers.value("Destination") {
                request.headers.set("Destination", try target(other, job, secrets))
            }
        }
        guard case .password = request.settings.credentials else { return request }
        request.authentication.memory = authentication
        request.authentication.remembers = true
        return request
    }

    private func headers(_ settings: JobSettings) throws(TransferError) -> [HeaderField] {
        var fields: [HeaderField] = []
        for header in settings.headers { fields.append(HeaderField(header.name, try secrets.read(header.value))) }
        if case .bearer(let token) = settings.auth {
            fields.set("Authorization", "Bearer " + (try secrets.read(token)))
        }
        if fields.value("User-Agent") == nil { fields.append(HeaderField("User-Agent", userAgent)) }
        return fields
    }

    /// Adds the fields that the source's server gave for a copy; the owner's fields take precedence.
    private func labelled(_ fields: [HeaderField], _ labels: [HeaderField]) -> [HeaderField] {
        fields + labels.filter { fields.value($0.name) == nil }
    }

    /// Adds the content type that the file's name suggests, unless there is another or the job wants none.
    private func typed(
        _ fields: [HeaderField], of spec: JobSpec, _ source: UploadBytes, _ url: String
    ) -> [HeaderField] {
        guard spec.settings.http.front.suggestsType,
            let field = FileType.field(for: source.name, at: url, beside: fields)
        else { return fields }
        return fields + [field]
    }

    /// Builds the settings of an exchange.
    ///
    /// - Parameter owner: The URL that the job names, if another one is requested.
    private func settings(
        _ job: JobSettings, for url: String, owner: String? = nil
    ) throws(TransferError) -> ExchangeSettings {
        var settings = ExchangeSettings()
        settings.timeouts.lostPaths = .leftByDownloads
        if let timeout = job.connectTimeout { settings.connectTimeout = timeout }
        if let timeout = job.timeout { settings.lowSpeedTime = timeout }
        if let lowSpeed = job.lowSpeed {
            settings.lowSpeedRate = lowSpeed.rate
            settings.lowSpeedTime = lowSpeed.time
        }
        settings.maxTime = job.maxTime
        settings.sending.congestion = job.congestion ?? .automatic
        settings.isBackground = job.isBackground
        if let limit = job.maxRedirects { settings.maxRedirects = limit }
        settings.redirects.methods = job.http.front.redirects
        settings.route.families = job.http.front.families
        settings.route.speaksHTTP1Only = job.http.version == .one
        settings.route.isPublicOnly = job.confinement.map { !$0.allowsPrivate } ?? false
        settings.proxies = try proxyRule(job)
        if let path = job.http.cookies {
            try cookies?.begin { () throws(TransferError) in try SecretSource.cookies(in: path) }
        }
        settings.tls = try tlsRules.rules(job.tls, passphrase: try job.tls.keyPassphrase.map(secrets.read))
        switch job.auth {
        case nil, .bearer: break
        case .netrc(let user, let file): settings.credentials = try netrc(job, user, file, at: owner ?? url)
        case .basic(let user, let password):
            settings.credentials = .password(user: try secrets.read(user), password: try secrets.read(password))
        }
        if let connect = JobSpec.UploadProtocol.of(url: url)?.entry.connect {
            try connect(&settings, job, url, secrets)
        }
        return settings
    }

    /// Reads the password of a job from a .netrc file.
    ///
    /// - Throws: `secretMissing` if the named user has no entry.
    private func netrc(
        _ job: JobSettings, _ user: SecretText?, _ file: String?, at url: String
    ) throws(TransferError) -> ExchangeSettings.Credentials {
        let origin = Origin(anyURL: url)
        let isSSH = origin?.scheme == "sftp"
        let user =
            try user.map { text throws(TransferError) in try secrets.read(text) } ?? (isSSH ? job.ssh?.user : nil)
        let (path, netrc) = try secrets.netrc(file)
        let account = NetrcAccount(netrc, host: origin?.host ?? "", user: user)
        // A login by key needs no password.
        if let user, let origin, account.own == nil, !isSSH {
            throw TransferError(.secretMissing, "\(path) has no password of \(user) at \(origin.host)")
        }
        return .netrc(account)
    }

    /// Returns whether a body may be sent before the server or its proxy asks for the known password.
    func mayBeChallenged(_ spec: JobSpec, _ origin: String) -> Bool {
        guard spec.isUpload, origin.hasPrefix("http") else { return false }
        if case .basic = spec.settings.auth { return true }
        // The request for a tunnel has no body.
        guard origin.hasPrefix("http:") else { return false }
        if let own = spec.settings.proxy, !own.isOfEnvironment { return own.credentials != nil }
        let rule = rule(of: spec.settings)
        guard !rule.isEmpty, let target = Origin(anyURL: origin), let way = rule.way(to: target) else { return false }
        return ProxyAddress(way).hasCredentials
    }

    /// Returns the host that a job contacts first.
    ///
    /// - Parameter reach: The reach of the origin itself, for jobs without a proxy.
    func reach(_ spec: JobSpec, origin: String, straight reach: OriginReach) -> OriginReach {
        let rule = rule(of: spec.settings)
        if JobSpec.UploadProtocol.of(url: origin)?.entry.target != nil,
            let origin = spec.settings.origin(of: origin, secrets)
        {
            return OriginReach(origin: origin.description, proxies: rule)
        }
        return rule.isEmpty ? reach : OriginReach(origin: origin, proxies: rule)
    }

    /// Returns the proxies of a job, without the credentials that it names.
    private func rule(of job: JobSettings) -> ProxyRule {
        guard let own = job.proxy else { return proxies }
        let exceptions = ProxyRule.list(own.noProxy ?? "")
        return own.isOfEnvironment
            ? ProxyRule(http: proxies.http, https: proxies.https, exceptions: exceptions)
            : ProxyRule(http: own.url, https: own.url, exceptions: exceptions)
    }

    /// Returns the rules of all schemes at once, because a redirect may lead to another scheme.
    private func proxyRule(_ job: JobSettings) throws(TransferError) -> ProxyRule {
        var rule = rule(of: job)
        guard let own = job.proxy, let credentials = own.credentials else { return rule }
        let user = PercentEncoding.encode(try secrets.read(credentials.user))
        let password = PercentEncoding.encode(try secrets.read(credentials.password))
        rule.http = ProxyAddress.url(own.url, userinfo: "\(user):\(password)")
        rule.https = rule.http
        return rule
    }
}
