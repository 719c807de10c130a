import TransferCore

/// What a job file holds, in the order in which it's found.
public enum JobFileElement: Sendable {
    /// Once, before every job.
    case batch(BatchSpec)
    /// A folder whose files are uploaded; before the jobs.
    case watch(WatchSpec, WatchLocations)
    case job(JobSpec, JobLocations)
    /// Also counted in the report; the line is quoted in those that the report keeps. The job that it's about is not
    /// handed out.
    case fault(JobFileFault)
}

/// Reads job files of all forms, as a whole or as they arrive.
///
/// Lists and JSON Lines take memory for a line; a JSON document arriving in chunks is held until its end, as its
/// defaults may come last, and so is a Metalink. A line that is wrong doesn't stop the others.
///
/// ```swift
/// var reader = JobFileReader(format: .init(fileName: name), sums: readFile)
/// let report = try reader.read(bytes) { element in print(element) }
/// ```
public struct JobFileReader {
    /// The form of the file; `nil` until it's told from the contents.
    public private(set) var format: JobFileFormat? { didSet { report.format = format } }
    /// What was wrong so far.
    public internal(set) var report = JobFileReport()

    /// Longer lines are refused: a job isn't as long.
    package static let maxLine = 16 << 20

    package var decoder: JobDecoder
    package var list = URLListEntry()
    /// The last line's number.
    package var line = 0
    /// The header or a job was read, so that no header can follow.
    package var hasBegun = false
    /// What relative paths of watched folders start from.
    package let directory: String?
    /// The folder that uploads of curl's list start from, where it's another one.
    private let workingFolder: String?
    /// The folders that are watched, with their lines.
    package var watched: [WatchPath.Entry] = []
    /// The names that the downloads get.
    package let names: DestinationNames
    /// The destination of URLs in lists that name none.
    package let destination: String
    package let metalink: MetalinkRules
    /// Reads the lines of another tool's list.
    private var foreign: ForeignList?
    private var pending: [UInt8] = []
    private var isTooLong = false

    /// - Parameters:
    ///   - format: The form of the file; `nil` tells it from the contents.
    ///   - directory: What the relative paths of watched folders start from; without it they stay relative.
    ///   - rules: Laid over the file's `defaults`.
    ///   - names: Shared by the lists of one batch; a file's own word on collisions holds where it has none.
    ///   - destination: Where URLs of lists go that name no file: a folder, or a path with places such as `{host}`.
    ///   - workingFolder: What the paths of uploads in curl's list start from, as curl has it; without it they stay
    ///     relative.
    ///   - metalink: How the files of a Metalink are fetched.
    ///   - sums: Reads the file that a job's `checksums` names; called once for each name. What it throws is a fault in
    ///     the job file.
    public init(
        format: JobFileFormat?, directory: String? = nil, rules: RequestRules = RequestRules(),
        metalink: MetalinkRules = MetalinkRules(), names: DestinationNames? = nil, destination: String = "./",
        workingFolder: String? = nil, sums: @escaping (String) throws -> [UInt8]
    ) {
        self.format = format
        self.directory = directory
        self.names = names ?? DestinationNames(directory: directory)
        self.destination = destination
        self.workingFolder = workingFolder == directory ? nil : workingFolder
        self.metalink = metalink
        report.format = format
        decoder = JobDecoder(
            JSONReader(UnsafeBufferPointer(start: nil, count: 0)), rules: rules, sums: ChecksumSource(sums))
        decoder.turn = DestinationTemplate.Turn(date: LocalDate.today)
    }

    /// Reads a whole file.
    ///
    /// - Parameters:
    ///   - bytes: The file, mapped into memory or read.
    ///   - sink: Takes what the file holds.
    /// - Throws: What `sink` throws, and nothing else: what is wrong with the file is in the report.
    public mutating func read(
        _ bytes: UnsafeRawBufferPointer, into sink: (JobFileElement) throws -> Void
    ) throws -> JobFileReport {
        let format = format ?? JobFileFormat.sniff(bytes, isWhole: true) ?? .json
        self.format = format
        switch format {
        case .json: try document(bytes.bindMemory(to: UInt8.self), sink)
        case .metalink: try metalinkDocument(bytes.bindMemory(to: UInt8.self), sink)
        case .jsonLines, .urlList, .plainURLs, .curl, .csv: try lines(bytes.bindMemory(to: UInt8.self), sink)
        }
        return try finish(into: sink)
    }

    /// Reads a whole file.
    public mutating func read(
        _ bytes: [UInt8], into sink: (JobFileElement) throws -> Void
    ) throws -> JobFileReport {
        try bytes.withUnsafeBytes { try read($0, into: sink) }
    }

    /// Reads the next piece of a file, such as what arrived on standard input.
    ///
    /// - Parameters:
    ///   - bytes: Of any length; they may end within a line or a character.
    ///   - sink: Takes the jobs that became complete.
    /// - Throws: What `sink` throws.
    public mutating func feed(
        _ bytes: UnsafeRawBufferPointer, into sink: (JobFileElement) throws -> Void
    ) throws {
        switch format {
        case .jsonLines, .urlList, .plainURLs, .curl, .csv: try lines(bytes.bindMemory(to: UInt8.self), sink)
        case .json, .metalink: pending.append(contentsOf: bytes)
        case nil:
            pending.append(contentsOf: bytes)
            format = pending.withUnsafeBytes { JobFileFormat.sniff($0, isWhole: false) }
            if let format, !format.isDocument {
                let begun = pending
                pending = []
                try begun.withUnsafeBytes { try lines($0.bindMemory(to: UInt8.self), sink) }
            }
        }
    }

    /// Reads the next piece of a file.
    public mutating func feed(_ bytes: [UInt8], into sink: (JobFileElement) throws -> Void) throws {
        try bytes.withUnsafeBytes { try feed($0, into: sink) }
    }

    /// Ends a file that was fed in pieces; hands out what was still incomplete.
    ///
    /// - Returns: All that was wrong with the file.
    /// - Throws: What `sink` throws.
    public mutating func finish(into sink: (JobFileElement) throws -> Void) throws -> JobFileReport {
        if format == nil {
            let begun = pending
            let reported = begun.withUnsafeBytes { JobFileFormat.sniff($0, isWhole: true) } ?? .urlList
            format = reported
            if !reported.isDocument {
                pending = []
                try begun.withUnsafeBytes { try lines($0.bindMemory(to: UInt8.self), sink) }
            }
        }
        let rest = pending
        pending = []
        try rest.withUnsafeBytes { raw in
            let bytes = raw.bindMemory(to: UInt8.self)
            if format == .json {
                if !hasBegun { try document(bytes, sink) }
            } else if format == .metalink {
                if !hasBegun { try metalinkDocument(bytes, sink) }
            } else if !bytes.isEmpty || isTooLong {
                try endLine(bytes, sink)
            }
        }
        try endList(sink)
        try begin(BatchSpec(), sink)
        if var list = foreign {
            foreign = nil
            for finding in list.finish() { try take(finding, sink) }
        }
        return report
    }

    /// Hands out the batch before its first job.
    package mutating func begin(_ batch: BatchSpec, _ sink: (JobFileElement) throws -> Void) throws {
        guard !hasBegun else { return }
        hasBegun = true
        names.hear(batch.collisions)
        try sink(.batch(batch))
    }

    /// Hands out a job that is in order by itself, under the name that it gets among the others.
    package mutating func deliver(
        _ spec: JobSpec, _ place: JobLocations, _ sink: (JobFileElement) throws -> Void
    ) throws {
        switch names.settle(spec) {
        case .taken(let spec): try sink(.job(spec, place))
        case .folded: break
        case .refused(let message): try add(place.identityFault(message), sink)
        }
    }

    package mutating func add(_ fault: JobFileFault, _ sink: (JobFileElement) throws -> Void) throws {
        report.add(fault)
        try sink(.fault(fault))
    }

    /// Hands out the problems that the decoder noted, in the context of what it read.
    ///
    /// - Returns: Whether there were any.
    package mutating func flush(
        _ context: FaultContext, _ sink: (JobFileElement) throws -> Void
    ) throws -> Bool {
        guard decoder.hasProblems else { return false }
        let (problems, uncounted) = decoder.takeProblems()
        for problem in problems {
            // Quoting costs a search for secrets: not for faults that are only counted.
            try add(context.fault(problem, quoting: report.faults.count < JobFileReport.capacity), sink)
        }
        report.add(uncounted: uncounted)
        return true
    }

    private mutating func lines(
        _ bytes: UnsafeBufferPointer<UInt8>, _ sink: (JobFileElement) throws -> Void
    ) throws {
        var start = 0
        while start < bytes.count {
            guard let newline = Self.newline(in: bytes, from: start) else {
                keep(bytes[start...])
                return
            }
            let piece = UnsafeBufferPointer(rebasing: bytes[start..<newline])
            start = newline + 1
            guard !pending.isEmpty || isTooLong else {
                try endLine(piece, sink)
                continue
            }
            keep(piece[...])
            let whole = pending
            pending.removeAll(keepingCapacity: true)
            try whole.withUnsafeBufferPointer { try endLine($0, sink) }
        }
    }

    private mutating func keep(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
        guard !isTooLong, pending.count + bytes.count <= Self.maxLine else {
            isTooLong = true
            pending = []
            return
        }
        pending.append(contentsOf: bytes)
    }

    private static func newline(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var index = start
        while index < bytes.count {
            if bytes[index] == 0x0A { return index }
            index += 1
        }
        return nil
    }

    private mutating func endLine(
        _ bytes: UnsafeBufferPointer<UInt8>, _ sink: (JobFileElement) throws -> Void
    ) throws {
        line += 1
        guard !isTooLong, bytes.count <= Self.maxLine else {
            isTooLong = false
            report.jobCount += 1
            let fault = JobFileFault(
                message: "a line longer than \(Self.maxLine >> 20) MiB", path: format == .jsonLines ? "$" : "",
                span: SourceSpan(line: line, column: 1))
            return try add(fault, sink)
        }
        let hasMark = line == 1 && bytes.starts(with: JobFileFormat.byteOrderMark)
        let text = hasMark ? UnsafeBufferPointer(rebasing: bytes[JobFileFormat.byteOrderMark.count...]) : bytes
        switch format {
        case .urlList, .plainURLs: try listLine(text, sink)
        case .curl, .csv:
            try begin(BatchSpec(), sink)
            var list = foreign ?? ForeignList(format, destination: destination)
            foreign = nil
            let findings = list.read(Array(text), number: line)
            foreign = list
            for finding in findings { try take(finding, sink) }
        default:
            // A file from Windows: the carriage return is the line's end.
            let isFromWindows = text.last == UInt8(ascii: "\r")
            try jobLine(isFromWindows ? UnsafeBufferPointer(rebasing: text.dropLast()) : text, sink)
        }
    }

    private mutating func take(_ finding: ListFinding, _ sink: (JobFileElement) throws -> Void) throws {
        switch finding {
        case .fault(let fault): try add(fault, sink)
        case .leftOut(let name, let line): report.leftOut.add(name, line: line)
        case .job(let draft):
            report.jobCount += 1
            try hand(draft, sink)
        }
    }

    /// Hands out the job that a list's entry is, or what is wrong with it.
    package mutating func hand(_ draft: ListDraft, _ sink: (JobFileElement) throws -> Void) throws {
        decoder.turn.number = report.jobCount
        let read = decoder.job(of: draft)
        for fault in read.faults { try add(fault, sink) }
        report.add(uncounted: read.uncounted)
        guard var spec = read.spec else { return }
        if format == .curl, let workingFolder, case .upload(var upload) = spec.work {
            upload.source = AbsolutePaths(from: workingFolder).absolute(upload.source)
            spec.work = .upload(upload)
        }
        if spec.settings.tls.insecure { report.trustingCount += 1 }
        let place = JobLocations(
            index: report.jobCount - 1, job: draft.place.span, to: read.to.span, format: format ?? .urlList)
        try deliver(spec, place, sink)
    }
}
