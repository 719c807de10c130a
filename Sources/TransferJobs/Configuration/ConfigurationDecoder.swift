import TransferCore

/// The validator of configuration files; the decoder collects the faults.
package enum ConfigurationDecoder {
    private static let version = 1

    package static func read(_ decoder: inout JobDecoder) throws(JSONFault) {
        decoder.reader.skipSpace()
        let start = decoder.reader.offset
        var hasVersion = false
        let seen = try decoder.object(ConfigurationKey.table, place: "configuration") {
            (decoder, key) throws(JSONFault) in
            switch key {
            case .schema: _ = try decoder.text()
            case .version:
                hasVersion = true
                try version(&decoder)
            case .defaults: try defaults(&decoder)
            case .limits:
                var limits = BatchLimits()
                try LimitsDecoder.read(&decoder, into: &limits)
            case .origins: try members(&decoder, origin)
            case .links: try members(&decoder, link)
            case .commands: try members(&decoder, command)
            case .metrics: try metrics(&decoder)
            case .serve:
                var settings = ServeSettings()
                try ServeDecoder.read(&decoder, into: &settings)
            case .queue: try other(&decoder)
            }
        }
        guard seen != nil, !hasVersion else { return }
        decoder.note("\"version\" is missing; write \"version\": 1", start..<start + 1)
    }

    private static func version(_ decoder: inout JobDecoder) throws(JSONFault) {
        guard try decoder.expect(.number) else { return }
        let number = try decoder.reader.number()
        guard decoder.reader.integer(number) != version else { return }
        let found = String(decoding: decoder.reader.bytes[number.range], as: UTF8.self)
        decoder.note("version \(found) is unknown; this program reads version \(version)", number.range)
    }

    private static func defaults(_ decoder: inout JobDecoder) throws(JSONFault) {
        _ = try decoder.reader.kind()
        var draft = JobDraft(start: decoder.reader.offset, rules: JobDefaults())
        _ = try decoder.object(ConfigurationFields.defaults, place: "defaults") {
            (decoder, field) throws(JSONFault) in try field.read(&decoder, &draft)
        }
        draft.checkConnections(&decoder)
        guard draft.rules.settings.tls.insecure else { return }
        decoder.note(
            "\"insecure\" is for single servers, never for all of them; write it beneath one of \"origins\"",
            draft.start..<draft.start + 1)
    }

    /// Reads an object whose keys are freely chosen names.
    ///
    /// - Parameter member: A closure that reads one value; it receives the name and the name's place.
    static func members(
        _ decoder: inout JobDecoder,
        _ member: (inout JobDecoder, String, Range<Int>) throws(JSONFault) -> Void
    ) throws(JSONFault) {
        guard try decoder.expect(.object) else { return }
        try decoder.reader.beginObject()
        var isFirst = true
        var names: Set<String> = []
        while let key = try decoder.reader.key(isFirst: &isFirst) {
            let name = decoder.reader.string(key)
            guard names.insert(name).inserted else {
                decoder.note(JSONReader.duplicate(name, key).message, key.token)
                try decoder.reader.skipValue()
                continue
            }
            if try decoder.reader.kind() == .null {
                try decoder.reader.null()
            } else {
                try member(&decoder, name, key.token)
            }
        }
    }

    private static func origin(
        _ decoder: inout JobDecoder, _ name: String, _ place: Range<Int>
    ) throws(JSONFault) {
        if let refusal = OriginPattern.refusal(of: name) { decoder.note(refusal, place, isSecret: name.contains("@")) }
        _ = try decoder.reader.kind()
        var draft = JobDraft(start: decoder.reader.offset, rules: JobDefaults())
        _ = try decoder.object(OriginKey.table, place: "origins") { (decoder, key) throws(JSONFault) in
            switch key {
            case .perHost: try perHost(&decoder, name)
            case .limits:
                _ = try decoder.object(OriginLimitKey.table, place: "origin's limits") {
                    (decoder, key) throws(JSONFault) in
                    switch key {
                    case .perHost: try perHost(&decoder, name)
                    case .limitRate: _ = try decoder.rateLimit()
                    case .requestRate: try requestRate(&decoder, name)
                    }
                }
            case .job(let field): try field.read(&decoder, &draft)
            }
        }
        draft.checkConnections(&decoder)
        guard draft.rules.settings.tls.insecure, OriginPattern(name)?.hasWildcard == true else { return }
        decoder.note("\"insecure\" is for single servers, not for all that a pattern stands for", place)
    }

    private static func perHost(_ decoder: inout JobDecoder, _ origin: String) throws(JSONFault) {
        _ = try decoder.reader.kind()
        let start = decoder.reader.offset
        _ = try LimitsDecoder.perHost(&decoder)
        checkServer(&decoder, .perHost, origin, start..<decoder.reader.offset)
    }

    private static func requestRate(_ decoder: inout JobDecoder, _ origin: String) throws(JSONFault) {
        _ = try decoder.reader.kind()
        let start = decoder.reader.offset
        _ = try LimitsDecoder.requestRate(&decoder)
        checkServer(&decoder, .requestRate, origin, start..<decoder.reader.offset)
    }

    /// Notes a fault for a server's limit in the section of a bucket.
    private static func checkServer(
        _ decoder: inout JobDecoder, _ key: OriginLimitKey, _ origin: String, _ range: Range<Int>
    ) {
        guard origin.lowercased().hasPrefix("s3://") else { return }
        decoder.note(
            "transfers are counted by server: write \"\(key.rawValue)\" beneath that of the bucket, \"https://HOST\"",
            range)
    }

    private static func link(_ decoder: inout JobDecoder, _ name: String, _ place: Range<Int>) throws(JSONFault) {
        if name.isEmpty || name.contains(where: { $0 == "/" || $0.isWhitespace }) {
            decoder.note("no name of a link; `transfer network` lists them", place)
        }
        _ = try decoder.object(LinkKey.table, place: "links") { (decoder, _) throws(JSONFault) in
            _ = try decoder.boolean()
        }
    }

    private static func command(_ decoder: inout JobDecoder, _ name: String, _ place: Range<Int>) throws(JSONFault) {
        if name.isEmpty { decoder.note("the name is empty", place) }
        _ = try decoder.reader.kind()
        let start = decoder.reader.offset
        var words: [String] = []
        let isArray = try decoder.array("an array: the program and its arguments") { (decoder) throws(JSONFault) in
            guard let text = try decoder.text() else { return }
            let word = decoder.reader.string(text)
            if word.utf8.contains(0) { decoder.note("an argument cannot hold a NUL character", text.token) }
            if words.isEmpty, !word.hasPrefix("/") {
                decoder.note("a program is named by its whole path, such as \"/usr/local/bin/\(name)\"", text.token)
            }
            words.append(word)
        }
        if isArray, words.isEmpty { decoder.note("the program is missing", start..<start + 1) }
    }

    private static func metrics(_ decoder: inout JobDecoder) throws(JSONFault) {
        _ = try decoder.object(MetricsKey.table, place: "metrics") { (decoder, _) throws(JSONFault) in
            guard let text = try decoder.text() else { return }
            let path = decoder.reader.string(text)
            if !path.hasPrefix("/") || path.utf8.contains(0) {
                decoder.note(
                    "a file of metrics is named by its whole path, such as \"/var/lib/prometheus/transfer.prom\"",
                    text.token)
            } else if !MetricsFileName.isCollected(path) {
                decoder.note("the name ends in .prom: the node exporter looks at no other files", text.token)
            }
        }
    }

    /// Checks an object that belongs to another part of the program; its secrets must be named too, not written out.
    private static func other(_ decoder: inout JobDecoder) throws(JSONFault) {
        try members(&decoder) { (decoder, name, place) throws(JSONFault) in
            if try decoder.reader.kind() == .string, SecretNames.contain(name) {
                decoder.note("a secret is named, never written; \(SecretDecoder.advice)", place, isSecret: true)
            }
            try decoder.reader.skipValue()
        }
    }
}
