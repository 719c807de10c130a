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
            let lines = values.compactMap(\.text)
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
        let texts = try Self.texts(options)
        guard let text = texts["max-download-limit"] else { return }
        guard let rate = ByteCount.parse(text) else { throw AriaError.option("max-download-limit") }
        try await served.amend(entry) { $0.settings.limitRate = rate == 0 ? nil : rate }
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

    func changeGlobal(_ options: [String: JSONValue]) throws {
        let texts = try Self.texts(options)
        if let dir = texts["dir"], dir != served.rules.directory {
            throw AriaError("dir is \(served.rules.directory), as the service was started")
        }
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
