/// What is wrong with a job file, and where.
public struct JobFileFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// In words; never holds a secret.
    public var message: String
    /// The JSON path, such as `$.jobs[0].chekcsum`; empty in a list of URLs.
    public var path: String
    public var span: SourceSpan
    /// The line to quote; `nil` when it's no longer at hand.
    public var excerpt: SourceExcerpt?

    public init(message: String, path: String, span: SourceSpan, excerpt: SourceExcerpt? = nil) {
        self.message = message
        self.path = path
        self.span = span
        self.excerpt = excerpt
    }

    /// The fault as `transfer validate` shows it: `file:line:column: error: …`, the path, and the line with a caret.
    ///
    /// - Parameter file: The file's name as the user wrote it.
    /// - Returns: Lines, with a newline behind the last one.
    public func rendered(file: String) -> String {
        var text = "\(file):\(span.line):\(span.column): error: \(message)\n"
        if !path.isEmpty { text += "  \(path)\n" }
        if let excerpt { text += excerpt.rendered(line: span.line) }
        return text
    }

    public var description: String { "line \(span.line), column \(span.column): \(message)" }
}

/// All that is wrong with a job file: the first faults whole, the others counted.
public struct JobFileReport: Sendable, Hashable {
    /// How many faults are kept.
    public static let capacity = 20

    /// The first ones that were found.
    public private(set) var faults: [JobFileFault] = []
    /// Also of those that aren't kept.
    public private(set) var faultCount = 0
    /// Jobs that the file holds, whether or not they are in order.
    public var jobCount = 0
    /// Watched folders that the file names, whether or not they are in order.
    public var watchCount = 0
    /// Jobs that take whoever answers for their server.
    public var trustingCount = 0
    /// Options of another tool's list that nothing here does, and without which its jobs are the same.
    public internal(set) var leftOut = LeftOut()
    /// The form of the file, once it's known.
    public internal(set) var format: JobFileFormat?

    public init() {}

    public var isEmpty: Bool { faultCount == 0 }

    public mutating func add(_ fault: JobFileFault) {
        faultCount += 1
        if faults.count < Self.capacity { faults.append(fault) }
    }

    /// Counts faults of which nothing else is known.
    package mutating func add(uncounted: Int) { faultCount += uncounted }

    /// Warnings, in words, of what works otherwise than the file says, or was left out: no faults.
    public var warnings: [String] {
        var warnings: [String] = []
        if trustingCount > 0 { warnings.append(Self.trusting(jobs: trustingCount)) }
        if let words = leftOut.words(format) { warnings.append(words) }
        return warnings
    }

    /// The warning of jobs that take whoever answers for their server, in words.
    public static func trusting(jobs count: Int) -> String {
        "\(Wording.count(count, "job")) without a check of certificates: anybody on the way can read and change what is moved"
    }

    /// `jobs.json: 2 errors in 40 jobs; nothing was started`
    public func summary(file: String) -> String {
        let jobs = jobCount > 0 ? " in \(Wording.count(jobCount, "job"))" : ""
        let shown = faultCount > faults.count ? ", the first \(faults.count) of them shown" : ""
        return "\(file): \(Wording.count(faultCount, "error"))\(jobs)\(shown); nothing was started"
    }

    /// The faults in the order of the file, and the summary.
    public func rendered(file: String) -> String {
        let ordered = faults.sorted { ($0.span.line, $0.span.column) < ($1.span.line, $1.span.column) }
        return ordered.map { $0.rendered(file: file) }.joined() + summary(file: file) + "\n"
    }
}
