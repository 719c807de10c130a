import TransferCore

/// A configuration file that has been read without a fault.
public struct ConfigurationFile: Sendable {
    /// The file's path, for messages.
    public let name: String
    package var root: ConfigurationValue
    package var origins: [Section] = []
    /// The origins whose sections in weaker files this file removes.
    package private(set) var unsetOrigins: [String] = []

    /// An entry of `origins`.
    package struct Section: Sendable {
        package var pattern: OriginPattern
        package var rules: ConfigurationValue
    }

    /// The error of a configuration file with faults.
    public struct Faults: Error, Sendable {
        /// The report of every fault and its place.
        public var report: JobFileReport
    }

    /// Reads a configuration file.
    ///
    /// - Parameters:
    ///   - bytes: The file's whole content.
    ///   - name: The file's path, for messages.
    /// - Throws: ``Faults`` with every fault of the file.
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
                // A key meant as an origin may contain a password.
                if fault.path.contains("@") { fault.path = "$.origins" }
                report.add(fault)
            }
            report.add(uncounted: uncounted)
            return (root, report)
        }
    }
}
