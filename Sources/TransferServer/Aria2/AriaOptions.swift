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
            let lines = values.compactMap(\.optionText)
            guard lines.count == values.count, !lines.contains(where: { $0.contains(where: \.isNewline) }) else {
                throw AriaError.option(name)
            }
            texts[name] = lines.joined(separator: "\n")
        }
        return texts
    }

    // MARK: Options of a download

    func option(_ gid: String, _ downloads: AriaDownloads) async throws -> JSONValue {
        let entry = try await downloads.entry(gid)
        let spec = entry.listed.route?.job
        var options = Self.common(directory: served.rules.directory)
        options["max-download-limit"] = String(spec?.settings.limitRate ?? 0)
        if case .download(let download) = spec?.work {
            options["out"] = download.expectedFile.split(separator: "/").last.map(String.init)
            if case .exactly(let count) = download.segments { options["split"] = String(count) }
        }
        return .object(options.mapValues { .string($0) })
    }

    /// Changes the options of a download. For an active one, a first rate limit takes effect when it continues, and a
    /// changed limit at once.
    func change(_ gid: String, _ options: [String: JSONValue], _ downloads: AriaDownloads) async throws {
        let entry = try await downloads.entry(gid)
        guard !entry.listed.state.hasEnded else {
            throw AriaError("Cannot change option for GID#\(AriaGID.name(entry))")
        }
        var texts = try Self.texts(options)
        let limit = texts.removeValue(forKey: "max-download-limit")
        try Self.refuseChanges(texts, current: try await option(gid, downloads).members ?? [:]) { name in
            "of a download that was added; remove it, and add it again with another \(name)"
        }
        guard let limit else { return }
        guard let rate = ByteCount.parse(limit) else { throw AriaError.option("max-download-limit") }
        try await served.amend(entry) { $0.settings.limitRate = rate == 0 ? nil : rate }
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
