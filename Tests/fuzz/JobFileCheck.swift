import TransferCore

@testable import TransferJobs

/// The check that a parsed job, written as canonical JSON, parses as the same job. A document that arrives in pieces
/// parses like a whole one.
enum JobFileCheck {
    /// The first byte selects the form of the rest.
    static func check(_ bytes: [UInt8]) throws {
        guard let first = bytes.first else { return }
        let form: JobFileFormat =
            switch first {
            case UInt8(ascii: "c"): .curl
            case UInt8(ascii: "v"): .csv
            default: [.json, .jsonLines, .urlList][Int(first) % 3]
            }
        let text = Array(bytes.dropFirst())
        let jobs = try read(text, form, piece: nil)
        for job in jobs {
            let written = job.canonicalJSON
            guard let again = try? JobSpec(canonicalJSON: written) else { throw FuzzFault("\(written) cannot be read") }
            try require(again == job, "another job: \(written)")
            try require(again.canonicalJSON == written, "written otherwise: \(written)")
        }
        // Incomplete text is parsed again with each piece, so many small pieces of a long text would take long.
        let pieces = try read(text, form, piece: max(7, text.count / 64))
        try require(pieces == jobs, "in pieces it is \(pieces.count) jobs, and not \(jobs.count)")
    }

    private struct NoFile: Error {}

    private static func read(_ bytes: [UInt8], _ form: JobFileFormat, piece: Int?) throws -> [JobSpec] {
        var jobs: [JobSpec] = []
        var reader = JobFileReader(format: form) { _ in throw NoFile() }
        func take(_ element: JobFileElement) {
            if case .job(let spec, _) = element { jobs.append(spec) }
        }
        guard let piece else {
            _ = try reader.read(bytes, into: take)
            return jobs
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            try reader.feed(Array(rest.prefix(piece)), into: take)
            rest = rest.dropFirst(piece)
        }
        _ = try reader.finish(into: take)
        return jobs
    }
}
