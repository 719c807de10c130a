import TransferCore

/// The elements of a job file, in the order of the file.
public enum JobFileElement: Sendable {
    /// The batch; exactly one, before every job.
    case batch(BatchSpec)
    /// A folder whose files are uploaded; these come before the jobs.
    case watch(WatchSpec, WatchLocations)
    /// A valid job, with its place in the file.
    case job(JobSpec, JobLocations)
    /// A fault, also counted in the report; the line is quoted only for faults that the report keeps. A job with a
    /// fault is not passed on.
    case fault(JobFileFault)
}

/// A reader of job files of all forms, complete or arriving in pieces.
///
/// Lists and JSON Lines need memory for one line. A JSON document that arrives in chunks is held until its end, since
/// its defaults may come last; so is a Metalink. A faulty line does not prevent the reading of later ones.
///
/// ```swift
/// var reader = JobFileReader(format: .init(fileName: name), sums: readFile)
/// let report = try reader.read(bytes) { element in print(element) }
/// ```
public struct JobFileReader {
    /// The form of the file; `nil` until the contents have determined it.
    public private(set) var format: JobFileFormat? { didSet { report.format = format } }
    /// The report on everything read so far.
    public internal(set) var report = JobFileReport()

    /// The maximum length of a line in bytes; no job is longer.
    package static let maxLine = 16 << 20

    package var decoder: JobDecoder
    package var list = URLListEntry()
    /// The number of the last line read.
    package var line = 0
    /// Whether the header or a job has been read, after which no header can follow.
    package var hasBegun = false
    /// The folder to which relative paths of watched folders refer.
    package let directory: String?
    /// The folder to which uploads of curl's list refer, where it differs.
    private let workingFolder: String?
    /// The watched folders, with their lines.
    package var watched: [WatchPath.Entry] = []
    /// The names given to the downloads.
    package let names: DestinationNames
    /// The destination of listed URLs that name none.
    package let destination: String
    package let metalink: MetalinkRules
    /// The parser of another tool's list.
    private var foreign: ForeignList?
    private var pending: [UInt8] = []
    private var isTooLong = false

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - format: The form of the file; `nil` lets the contents determine it.
    ///   - directory: The folder to which relative paths of watched folders refer; without it they stay relative.
    ///   - rules: Rules that are merged over the file's `defaults`.
    ///   - names: The names shared by the lists of one batch. Its rule on collisions overrides the file's.
    ///   - destination: The destination of listed URLs that name no file: a folder, or a path with placeholders such as
    ///     `{host}`.
    ///   - workingFolder: The folder to which uploads in curl's list refer, as in curl itself; without it they stay
    ///     relative.
    ///   - metalink: The rules for the files of a Metalink.
    ///   - sums: A closure that reads the file named by a job's `checksums`, called once for each name. Its errors
    ///     become faults of the job file.
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

    /// Whether jobs may contain secrets written out, because the queue seals them.
    package var takesSecrets: Bool {
        get { decoder.takesSecrets }
        set { decoder.takesSecrets = newValue }
    }

    /// Reads a whole file.
    ///
    /// - Parameters:
    ///   - bytes: The file, mapped into memory or read.
    ///   - sink: A closure that receives the file's elements.
    /// - Throws: The errors of `sink` only. Faults of the file are not errors; they are in the report.
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

    /// Reads a whole file from an array of bytes.
    ///
    /// - Throws: The errors of `sink` only.
    public mutating func read(
        _ bytes: [UInt8], into sink: (JobFileElement) throws -> Void
    ) throws -> JobFileReport {
        try bytes.withUnsafeBytes { try read($0, into: sink) }
    }

    /// Reads the next piece of a file, such as data that arrived on standard input.
    ///
    /// - Parameters:
    ///   - bytes: A piece of any length, which may end within a line or a character.
    ///   - sink: A closure that receives the elements that became complete.
    /// - Throws: The errors of `sink` only.
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

    /// Reads the next piece of a file from an array of bytes.
    ///
    /// - Throws: The errors of `sink` only.
    public mutating func feed(_ bytes: [UInt8], into sink: (JobFileElement) throws -> Void) throws {
        try bytes.withUnsafeBytes { try feed($0, into: sink) }
    }

    /// Ends a file that arrived in pieces, and passes on the rest.
    ///
    /// - Returns: The report on the whole file.
    /// - Throws: The errors of `sink` only.
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

    /// Passes on the batch before its first job.
    package mutating func begin(_ batch: BatchSpec, _ sink: (JobFileElement) throws -> Void) throws {
        guard !hasBegun else { return }
        hasBegun = true
        names.hear(batch.collisions)
        try sink(.batch(batch))
    }

    /// Passes on a valid job, under the name that it gets among the batch's jobs.
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

    /// Passes on the problems noted by the decoder, in the context of the text it read.
    ///
    /// - Returns: Whether there were any.
    package mutating func flush(
        _ context: FaultContext, _ sink: (JobFileElement) throws -> Void
    ) throws -> Bool {
        guard decoder.hasProblems else { return false }
        let (problems, uncounted) = decoder.takeProblems()
        for problem in problems {
            // A quotation requires a search for secrets, so faults that are only counted get none.
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
            // In a file from Windows, a carriage return ends the line too.
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

    /// Passes on the job of a list's entry, or its faults.
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
