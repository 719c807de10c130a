package import TransferCore

/// A URL of a list, with the options that follow it.
package struct URLListEntry {
    package var urls: [String] = []
    package var out: String?
    package var folder: String?
    package var checksum: Checksum?
    package var headers: [JobSettings.HeaderSetting] = []
    package var span = SourceSpan(line: 0, column: 1)
    package var to: SourceSpan?
    /// Whether a line with a URL has been read, valid or not.
    package var isOpen = false
    package var isWrong = false
    /// Further options; `nil` where there are none.
    package var more: ListDraft?

    /// Returns the entry with its further options.
    fileprivate func draft(_ more: ListDraft, to destination: String) -> ListDraft {
        var draft = more
        draft.place = ListPlace(span)
        draft.set(["download"], .strings(urls), at: draft.place)
        draft.set(["to"], .string(destination), at: to.map { ListPlace($0) } ?? draft.place)
        if let checksum { draft.set(["checksum"], .string(checksum.description), at: draft.place) }
        for header in headers {
            guard case .literal(let value) = header.value else { continue }
            draft.set(["headers", header.name], .string(value), at: draft.place)
        }
        return draft
    }

    fileprivate func job(to destination: String, on defaults: JobDefaults) -> JobSpec {
        var settings = defaults.settings
        for header in headers {
            settings.headers.removeAll { $0.name.asciiCaseInsensitiveEquals(header.name) }
            settings.headers.append(header)
        }
        var download = defaults.download
        download.urls = urls
        download.destination = destination
        download.checksum = checksum ?? DownloadDecoder.listedChecksum(of: download, defaults.checksums)
        return JobSpec(
            work: .download(download.strict ? download.strictly : download), priority: defaults.priority,
            settings: settings)
    }
}

extension JobFileReader {
    /// The options of aria2 that this reader handles itself; ``Aria2Options`` has the rest.
    package static let listOptions = ["out", "dir", "checksum", "header"]

    /// Reads a line of a list. It is a URL and its mirrors with tabs between them, or, where indented, an option of the
    /// last URL. In a list of URLs alone, leading blanks mean nothing.
    package mutating func listLine(
        _ text: UnsafeBufferPointer<UInt8>, _ sink: (JobFileElement) throws -> Void
    ) throws {
        var end = text.count
        while end > 0, text[end - 1] <= 0x20 { end -= 1 }
        var start = 0
        while start < end, text[start] == 0x20 || text[start] == 0x09 { start += 1 }
        guard start < end, text[start] != UInt8(ascii: "#") else { return }
        let bytes = UnsafeBufferPointer(rebasing: text[..<end])
        if start > 0, format != .plainURLs {
            try option(bytes, from: start, sink)
        } else {
            try endList(sink)
            try begin(BatchSpec(), sink)
            report.jobCount += 1
            list = URLListEntry(isOpen: true)
            try mirrors(bytes, from: start, sink)
        }
    }

    private mutating func mirrors(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, _ sink: (JobFileElement) throws -> Void
    ) throws {
        list.span = span(start..<bytes.count, bytes)
        for mirror in bytes[start...].split(separator: 0x09) {
            let range = mirror.startIndex..<mirror.endIndex
            guard let url = try utf8(range, bytes, sink) else { continue }
            if let slip = ListSlip.refusal(of: url) {
                try refuse(slip, range, bytes, sink)
            } else if url.utf8.contains(0x20) {
                // A blank may be meant to separate a URL from another text.
                try refuse("a URL cannot hold a space; write %20, and a tab between two URLs", range, bytes, sink)
            } else if let refusal = URLRule.refusal(of: url, advice: "a .json or .jsonl file can say \"auth\"") {
                try refuse(refusal.message, range, bytes, sink)
            } else {
                list.urls.append(url)
            }
        }
    }

    private mutating func option(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, _ sink: (JobFileElement) throws -> Void
    ) throws {
        guard list.isOpen else {
            return try refuse(
                "an indented line holds an option, but no URL stands before it", start..<bytes.count, bytes, sink)
        }
        let equals = bytes[start...].firstIndex(of: UInt8(ascii: "="))
        let name = start..<(equals ?? bytes.count)
        let value = (equals.map { $0 + 1 } ?? bytes.count)..<bytes.count
        guard let option = try utf8(name, bytes, sink), let text = try utf8(value, bytes, sink) else { return }
        // On its command line, aria2 takes the same options with two leading dashes.
        let key = option.hasPrefix("--") ? String(option.dropFirst(2)) : option
        let meaning = Aria2Options.meaning(of: key)
        guard meaning != nil || Self.listOptions.contains(key) else {
            return try unknown(key, name, bytes, sink)
        }
        guard equals != nil else { return try refuse("an option is written \(key)=VALUE", name, bytes, sink) }
        if let meaning { return try apply(meaning, key, text, value, bytes, sink) }
        switch key {
        case "out", "dir":
            if let message = DestinationPath.refusal(ofPath: text) ?? DestinationTemplate.refusal(of: text) {
                return try refuse(message, value, bytes, sink)
            }
            if key == "out" { list.out = text } else { list.folder = text }
            list.to = span(value, bytes)
        case "checksum":
            list.checksum = Checksum(text)
            if list.checksum == nil { try refuse(ChecksumRule.refusal(of: text), value, bytes, sink) }
        default: try header(text, value, bytes, sink)
        }
    }

    private mutating func unknown(
        _ key: String, _ range: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>,
        _ sink: (JobFileElement) throws -> Void
    ) throws {
        if key.contains("://") {
            let message = "an indented line holds an option of the URL before it\(ListWays.plain)"
            return try refuse(message, range, bytes, sink)
        }
        guard let nearest = NearestKey.suggestion(for: key, among: Self.listOptions + Aria2Options.names) else {
            return report.leftOut.add(key, line: line)
        }
        try refuse("unsupported option \(Wording.quoted(key)); did you mean \"\(nearest)\"?", range, bytes, sink)
    }

    /// Applies an option that only aria2 has.
    private mutating func apply(
        _ meaning: ListMeaning, _ key: String, _ text: String, _ range: Range<Int>,
        _ bytes: UnsafeBufferPointer<UInt8>, _ sink: (JobFileElement) throws -> Void
    ) throws {
        let place = ListPlace(
            range, in: Array(bytes), number: line, isSecret: meaning.isSecret || text.contains("@"))
        // The draft starts at the place of the first option; the entry's own place replaces that later.
        var more = list.more ?? ListDraft(at: place, url: list.urls.first ?? "")
        list.more = nil
        let option = ListedOption(name: key, shown: key, value: text, isOn: text != "false", place: place)
        switch meaning.apply(option, to: &more) {
        case .taken: break
        case .leftOut: report.leftOut.add(key, line: line)
        case .takenWithout(let rest): report.leftOut.add(rest, line: line)
        case .refused(let message):
            list.isWrong = true
            try add(place.fault(message), sink)
        }
        list.more = more
    }

    private mutating func header(
        _ text: String, _ range: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>,
        _ sink: (JobFileElement) throws -> Void
    ) throws {
        guard let colon = text.firstIndex(of: ":") else {
            return try refuse("a header is written header=NAME: VALUE", range, bytes, sink)
        }
        let name = String(text[..<colon])
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        if let message = HeaderRule.refusal(ofName: name) ?? HeaderRule.refusal(ofValue: String(value)) {
            try refuse(message, range, bytes, sink)
        } else if Redaction.isSecretHeader(name), !decoder.takesSecrets {
            let advice = "a .json or .jsonl file can name it: {\"env\": \"NAME\"}"
            try refuse("a secret is named, never written; \(advice)", range, bytes, sink)
        } else if list.headers.count >= SecretDecoder.mostHeaders {
            try refuse("more than \(CountText.words(SecretDecoder.mostHeaders, "header field"))", range, bytes, sink)
        } else {
            list.headers.append(.init(name: name, value: .literal(String(value))))
        }
    }

    /// Passes on the entry whose options are now complete.
    package mutating func endList(_ sink: (JobFileElement) throws -> Void) throws {
        guard list.isOpen else { return }
        let entry = list
        list = URLListEntry()
        guard !entry.isWrong, !entry.urls.isEmpty else { return }
        let folder = entry.folder.map { $0 + "/" } ?? ""
        let named = entry.out.map { folder + $0 } ?? (folder.isEmpty ? destination : folder)
        if let more = entry.more, !more.isEmpty { return try hand(entry.draft(more, to: named), sink) }
        decoder.turn.number = report.jobCount
        let path = DestinationTemplate.expanded(
            DestinationPath.normalized(named), url: entry.urls[0], decoder.turn)
        let base = decoder.base(for: entry.urls)
        if let fault = base.fault {
            return try add(JobFileFault(message: fault, path: "", span: entry.span), sink)
        }
        var spec = entry.job(to: path, on: base.defaults)
        if base.isConfigured { spec.lasting = entry.job(to: path, on: decoder.defaults).spelt.fingerprint }
        let locations = JobLocations(
            index: report.jobCount - 1, job: entry.span, to: entry.to ?? entry.span, format: format ?? .urlList)
        if case .download(let download) = spec.work,
            let message = DownloadDecoder.missing(download, base.defaults.checksums)
        {
            return try add(locations.destinationFault(message), sink)
        }
        try deliver(spec, locations, sink)
    }

    private mutating func utf8(
        _ range: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>, _ sink: (JobFileElement) throws -> Void
    ) throws -> String? {
        var index = range.lowerBound
        while index < range.upperBound {
            guard let length = UTF8Sequence.length(at: index, in: bytes) else {
                try refuse("invalid UTF-8", index..<index + 1, bytes, sink)
                return nil
            }
            index += length
        }
        return String(decoding: bytes[range], as: UTF8.self)
    }

    private mutating func refuse(
        _ message: String, _ range: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>,
        _ sink: (JobFileElement) throws -> Void
    ) throws {
        list.isWrong = true
        let context = FaultContext(bytes: bytes, base: SourceCursor(offset: 0, line: line), path: nil)
        let quoting = report.faults.count < JobFileReport.capacity
        try add(context.fault(Problem(message: message, range: range), quoting: quoting), sink)
    }

    private func span(_ range: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>) -> SourceSpan {
        SourceCursor(offset: 0, line: line).span(range, in: bytes)
    }
}
