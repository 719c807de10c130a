import TransferCore

extension JobFileReader {
    /// Reads a Metalink, in which each file is a job.
    package mutating func metalinkDocument(
        _ bytes: UnsafeBufferPointer<UInt8>, _ sink: (JobFileElement) throws -> Void
    ) throws {
        try begin(BatchSpec(), sink)
        if let page = Self.page(bytes) {
            let message =
                "a web page, no Metalink and no list: pages are not searched for links; write their URLs, a line each"
            return try refuse(message, page, bytes, sink)
        }
        var parser = MetalinkParser(bytes)
        // A fault within a file is reported, and the file yields no job.
        var isWrong = false
        var cursor = SourceCursor()
        let faults = report.faultCount
        while true {
            let item: MetalinkParser.Item?
            do throws(XMLScanner.Fault) {
                item = try parser.next()
            } catch {
                return try refuse(error.message, error.range, bytes, sink)
            }
            switch item {
            case nil:
                guard report.jobCount == 0, report.faultCount == faults else { return }
                return try refuse("the Metalink describes no file", 0..<1, bytes, sink)
            case .problem(let message, let range):
                isWrong = true
                try refuse(message, range, bytes, sink)
            case .file(let file):
                report.jobCount += 1
                if metalink.output != nil, report.jobCount == 2 {
                    try refuse("one file was named to write, and the Metalink describes more", file.range, bytes, sink)
                }
                defer { isWrong = false }
                if let refusal = Self.refusal(of: file, near: metalink.locations) {
                    try refuse(refusal.message, refusal.range, bytes, sink)
                } else if !isWrong, let name = MetalinkName.path(file.name) {
                    cursor.advance(to: file.range.lowerBound, in: bytes)
                    let place = JobLocations(
                        index: report.jobCount - 1, job: cursor.span(file.range, in: bytes),
                        to: cursor.span(file.nameRange, in: bytes), format: .metalink)
                    try hand(file, to: name, place, sink)
                }
            }
        }
    }

    /// Returns the bytes that mark a document as HTML.
    private static func page(_ bytes: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        guard let start = bytes.firstIndex(of: UInt8(ascii: "<")) else { return nil }
        let words = String(decoding: bytes[start...].prefix(16), as: UTF8.self).lowercased()
        guard let mark = ["<!doctype html", "<html", "<head", "<body", "<a href"].first(where: words.hasPrefix) else {
            return nil
        }
        return start..<start + mark.utf8.count
    }

    private mutating func hand(
        _ file: MetalinkFile, to name: String, _ place: JobLocations, _ sink: (JobFileElement) throws -> Void
    ) throws {
        let urls = file.urls(near: metalink.locations).filter { URLRule.refusal(of: $0) == nil }
        let base = decoder.base(for: urls)
        if let fault = base.fault {
            return try add(JobFileFault(message: fault, path: "", span: place.job), sink)
        }
        var spec = job(file, name, urls, on: base.defaults)
        if base.isConfigured { spec.lasting = job(file, name, urls, on: decoder.defaults).spelt.fingerprint }
        if case .download(let download) = spec.work,
            let message = DownloadDecoder.missing(download, base.defaults.checksums)
        {
            return try add(place.destinationFault(message), sink)
        }
        try deliver(spec, place, sink)
    }

    private func job(_ file: MetalinkFile, _ name: String, _ urls: [String], on defaults: JobDefaults) -> JobSpec {
        var download = defaults.download
        download.urls = urls
        download.destination = DestinationPath.normalized(metalink.output ?? name)
        download.size = file.size
        download.pieces = file.bestPieces
        download.checksum = file.checksum ?? DownloadDecoder.listedChecksum(of: download, defaults.checksums)
        return JobSpec(
            work: .download(download.strict ? download.strictly : download), priority: defaults.priority,
            settings: defaults.settings)
    }

    private static func refusal(
        of file: MetalinkFile, near locations: [String]
    ) -> (message: String, range: Range<Int>)? {
        guard !file.name.isEmpty else { return nil }
        guard MetalinkName.path(file.name) != nil else {
            return (
                "the name \(Wording.quoted(file.name)) leads out of the folder or names no file; a name is a relative path"
                    + " without \"..\"", file.nameRange
            )
        }
        let urls = file.urls(near: locations)
        if !urls.contains(where: { URLRule.refusal(of: $0) == nil }) {
            if let source = file.sources.first, let refusal = URLRule.refusal(of: source.url) {
                return (refusal.message, source.range)
            }
            let others = file.foreignSources > 0 ? ", only torrents and the like" : ""
            return ("no URL of \(Wording.quoted(file.name)) is there\(others)", file.range)
        }
        if let size = file.size, let pieces = file.bestPieces, !pieces.sizes.contains(size) {
            return (
                "\(CountText.words(pieces.digests.count, "piece")) of \(CountText.bytes(pieces.length)) "
                    + "cannot make a file of \(size)",
                file.piecesRange ?? file.range
            )
        }
        return nil
    }

    private mutating func refuse(
        _ message: String, _ range: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>,
        _ sink: (JobFileElement) throws -> Void
    ) throws {
        let inside = range.clamped(to: 0..<bytes.count)
        let context = FaultContext(bytes: bytes, base: SourceCursor(), path: nil, isXML: true)
        // A line that may contain a password is not quoted at all.
        let start = bytes[..<inside.lowerBound].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let end = bytes[inside.lowerBound...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        let isOpen = !bytes[start..<end].contains(UInt8(ascii: "@"))
        let quoting = isOpen && report.faults.count < JobFileReport.capacity
        try add(context.fault(Problem(message: message, range: inside), quoting: quoting), sink)
    }
}

/// The rules for the files of a Metalink.
public struct MetalinkRules: Sendable {
    /// The countries whose sources are tried first, in order of preference, in lower-case letters such as `de`.
    public var locations: [String]
    /// The path for the Metalink's only file, which replaces the file's own name; `nil` keeps that name.
    public var output: String?

    /// Creates rules; country codes may have any case.
    public init(locations: [String] = [], output: String? = nil) {
        self.locations = locations.map { $0.lowercased() }
        self.output = output
    }
}
