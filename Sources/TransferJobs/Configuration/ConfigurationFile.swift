import TransferCore

/// A configuration file that was found to be in order.
public struct ConfigurationFile: Sendable {
    /// The file's path, for people.
    public let name: String
    package var root: ConfigurationValue
    package var origins: [Section] = []
    /// The sections that are taken away from weaker files.
    package private(set) var unsetOrigins: [String] = []

    /// An entry of `origins`.
    package struct Section: Sendable {
        package var pattern: OriginPattern
        package var rules: ConfigurationValue
    }

    /// What makes a file unusable.
    public struct Faults: Error, Sendable {
        /// Every fault with its place.
        public var report: JobFileReport
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - name: Its path, for people.
    /// - Throws: ``Faults`` with all that is wrong with the file.
    public init(_ bytes: [UInt8], name: String) throws(Faults) {
        self.name = name
        let read = Self.read(bytes, name: name)
        guard read.report.isEmpty else { throw Faults(report: read.report) }
        root = read.root
        for member in root["origins"]?.members ?? [] {
            guard let pattern = OriginPattern(member.name) else { continue }
            if case .unset = member.value {
                unsetOrigins.append(member.name)
                continue
            }
            origins.append(Section(pattern: pattern, rules: member.value))
        }
    }

    private static func read(_ bytes: [UInt8], name: String) -> (root: ConfigurationValue, report: JobFileReport) {
        bytes.withUnsafeBufferPointer { bytes in
            let start = bytes.starts(with: JobFileFormat.byteOrderMark) ? JobFileFormat.byteOrderMark.count : 0
            var report = JobFileReport()
            var decoder = JobDecoder(
                JSONReader(bytes, offset: start), sums: .none, form: .configuration)
            var root = ConfigurationValue.empty
            do throws(JSONFault) {
                try ConfigurationDecoder.read(&decoder)
                try decoder.reader.expectEnd()
                var reader = JSONReader(bytes, offset: start)
                var cursor = SourceCursor(offset: start, line: 1)
                root = try ConfigurationValue.read(&reader, &cursor, file: name)
            } catch {
                decoder.note(error.message, error.range)
            }
            var cursor = SourceCursor(offset: start, line: 1)
            var first = JSONReader(bytes, offset: start)
            first.skipSpace()
            cursor.advance(to: first.offset, in: bytes)
            let context = FaultContext(bytes: bytes, base: cursor, path: "$")
            let (problems, uncounted) = decoder.takeProblems()
            for problem in problems {
                var fault = context.fault(problem, quoting: true)
                // A key that should be an origin may hold a password.
                if fault.path.contains("@") { fault.path = "$.origins" }
                report.add(fault)
            }
            report.add(uncounted: uncounted)
            return (root, report)
        }
    }
}
