import TransferCore
import TransferQueue

/// The options of aria2 that exist here, for a download and for the service.
struct AriaOptions: Sendable {
    let served: ServedQueue
    let limits: RunningLimits

    /// Returns options as texts; the values of a list are separated by line feeds.
    ///
    /// - Throws: `AriaError` for a value that would span several lines of a list.
    static func texts(_ options: [String: JSONValue]) throws -> [String: String] {
        var texts: [String: String] = [:]
        for (name, value) in options {
            let values = value.elements ?? [value]
            // As in aria2, numbers and truth values are read like their texts.
            var lines = values.compactMap(\.optionText)
            // The value that `getOption` returns for header fields has one on each line.
            if name == "header", lines.count == values.count {
                lines = lines.flatMap { $0.split(separator: "\n").map(String.init) }
                texts[name] = lines.joined(separator: "\n")
                guard !lines.contains(where: { $0.contains(where: \.isNewline) }) else { throw AriaError.option(name) }
                continue
            }
            guard lines.count == values.count, !lines.contains(where: { $0.contains(where: \.isNewline) }) else {
                throw AriaError.option(name)
            }
            texts[name] = lines.joined(separator: "\n")
        }
        return texts
    }

    // MARK: Options of a download

    func option(_ gid: String, _ downloads: AriaDownloads) async throws -> JSONValue {
        let status = downloads.status(of: try await downloads.entry(gid))
        var options = Self.common(directory: status.folder)
        options["out"] = status.path.split(separator: "/").last.map(String.init)
        if let spec = status.entry.listed.route?.job { Self.add(spec, to: &options) }
        return .object(options.mapValues { .string($0) })
    }

    /// Adds the options of a job that differ from those of the service. Secrets are left out.
    private static func add(_ spec: JobSpec, to options: inout [String: String]) {
        let settings = spec.settings
        options["max-download-limit"] = String(settings.limitRate ?? 0)
        if let limit = settings.retry.limit { options["max-tries"] = String(limit + 1) }
        if let rate = settings.lowSpeed?.rate { options["lowest-speed-limit"] = String(rate) }
        var lines: [String] = []
        for header in settings.headers where !Redaction.isSecretHeader(header.name) {
            guard case .literal(let value) = header.value else { continue }
            switch header.name.lowercased() {
            case "user-agent": options["user-agent"] = value
            case "referer": options["referer"] = value
            default: lines.append("\(header.name): \(value)\n")
            }
        }
        if !lines.isEmpty { options["header"] = lines.joined() }
        guard case .download(let download) = spec.work else { return }
        if case .exactly(let count) = download.segments { options["split"] = String(count) }
        if let checksum = download.checksum { options["checksum"] = "\(name(checksum.algorithm))=\(checksum.hex)" }
        options["remote-time"] = String(download.remoteTime)
        switch download.ifExists {
        case .overwrite: options["allow-overwrite"] = "true"
        case .fail: options["auto-file-renaming"] = "false"
        case .update: options["conditional-get"] = "true"
        case .rename, .verify, .skip: break
        }
    }

    /// Returns an algorithm's name in aria2.
    private static func name(_ algorithm: DigestAlgorithm) -> String {
        switch algorithm {
        case .md5: "md5"
        case .sha1: "sha-1"
        case .sha256: "sha-256"
        case .sha512: "sha-512"
        }
    }

    /// Changes the options of a download. For an active one, a changed rate limit takes effect at once. A first limit,
    /// and numbers of connections and attempts, take effect when it continues.
    func change(_ gid: String, _ options: [String: JSONValue], _ downloads: AriaDownloads) async throws {
        let entry = try await downloads.entry(gid)
        guard !entry.listed.state.hasEnded else {
            throw AriaError("Cannot change option for GID#\(AriaGID.name(entry))")
        }
        let current = try await option(gid, downloads).members ?? [:]
        var texts = try Self.texts(options).filter { current[$0.key]?.text != $0.value }
        let change = try AriaChange(taking: &texts)
        try Self.refuseChanges(texts, current: current) { name in
            "of a download that was added; remove it, and add it again with another \(name)"
        }
        guard !change.isEmpty else { return }
        guard change.isOfSealed || entry.listed.route?.job?.settings.sealed == nil else {
            throw AriaError("The option max-tries cannot be changed of a download with a secret")
        }
        try await served.amend(entry) { change.make(&$0) }
    }

    /// Refuses options that cannot be changed, unless they have that value already. An answer of OK for an ignored
    /// option would mislead. A name that aria2 does not have is ignored, as it does.
    ///
    /// - Parameter place: A closure that returns the rest of the refusal.
    private static func refuseChanges(
        _ texts: [String: String], current: [String: JSONValue], place: (String) -> String
    ) throws {
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) where current[name]?.text != text {
            guard
                current[name] != nil || JobFileReader.listOptions.contains(name)
                    || Aria2Options.meaning(of: name) != nil
            else { continue }
            throw AriaError("The option \(name) cannot be changed \(place(name))")
        }
    }

    // MARK: Options of the service

    private static func common(directory: String) -> [String: String] {
        [
            "dir": directory, "continue": "true", "auto-file-renaming": "true", "allow-overwrite": "false",
            "max-connection-per-server": "16", "split": "5", "check-certificate": "true", "remote-time": "true",
            "max-tries": "11", "pause": "false",
        ]
    }

    var global: JSONValue {
        let current = limits.current
        var options = Self.common(directory: served.rules.directory)
        options["max-concurrent-downloads"] = String(current.concurrency ?? BatchLimits.concurrency)
        options["max-overall-download-limit"] = String(current.limitRate ?? 0)
        options["max-download-result"] = String(AriaDownloads.mostDownloads)
        return .object(options.mapValues { .string($0) })
    }

    /// The options of the service that clients can change.
    private static let changeable: Set<String> = ["max-concurrent-downloads", "max-overall-download-limit"]

    func changeGlobal(_ options: [String: JSONValue]) throws {
        let texts = try Self.texts(options)
        try Self.refuseChanges(
            texts.filter { !Self.changeable.contains($0.key) }, current: global.members ?? [:]
        ) { _ in "while the service runs" }
        try limits.change { limits in
            var changed = limits
            if let text = texts["max-concurrent-downloads"] {
                guard let count = Int(text), FieldRanges.concurrencies.contains(count) else {
                    throw AriaError.option("max-concurrent-downloads")
                }
                changed.concurrency = count
            }
            if let text = texts["max-overall-download-limit"] {
                guard let rate = ByteCount.parse(text) else { throw AriaError.option("max-overall-download-limit") }
                changed.limitRate = rate == 0 ? nil : rate
            }
            limits = changed
        }
    }
}
