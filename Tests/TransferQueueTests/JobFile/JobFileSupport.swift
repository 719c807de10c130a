import TransferCore

@testable import TransferJobs

/// The result of reading a text.
struct Reading {
    var batch: BatchSpec?
    var jobs: [JobSpec] = []
    var locations: [JobLocations] = []
    var watches: [WatchSpec] = []
    var watchLocations: [WatchLocations] = []
    var faults: [JobFileFault] = []
    var report = JobFileReport()

    /// The faults as `line:column:length path message`.
    var lines: [String] {
        faults.map { "\($0.span.line):\($0.span.column):\($0.span.length) \($0.path) \($0.message)" }
    }
}

struct NoSuchFile: Error, CustomStringConvertible {
    var description: String { "no such file" }
}

/// - Parameter piece: The number of bytes that are fed at a time; `nil` reads the text as a whole.
func read(
    _ text: String, as format: JobFileFormat? = .json, files: [String: String] = [:], piece: Int? = nil,
    directory: String? = nil
) throws -> Reading {
    try read(Array(text.utf8), as: format, files: files, piece: piece, directory: directory)
}

func read(
    _ bytes: [UInt8], as format: JobFileFormat? = .json, files: [String: String] = [:], piece: Int? = nil,
    directory: String? = nil
) throws -> Reading {
    var reading = Reading()
    var reader = JobFileReader(format: format, directory: directory) { path in
        guard let file = files[path] else { throw NoSuchFile() }
        return Array(file.utf8)
    }
    func take(_ element: JobFileElement) {
        switch element {
        case .batch(let batch): reading.batch = batch
        case .watch(let spec, let locations):
            reading.watches.append(spec)
            reading.watchLocations.append(locations)
        case .job(let spec, let locations):
            reading.jobs.append(spec)
            reading.locations.append(locations)
        case .fault(let fault): reading.faults.append(fault)
        }
    }
    if let piece {
        var rest = bytes[...]
        while !rest.isEmpty {
            try reader.feed(Array(rest.prefix(piece)), into: take)
            rest = rest.dropFirst(piece)
        }
        reading.report = try reader.finish(into: take)
    } else {
        reading.report = try reader.read(bytes, into: take)
    }
    return reading
}

/// Reads a document with one job that has these members besides a URL and a destination.
func readJob(_ members: String, defaults: String = "{}", files: [String: String] = [:]) throws -> Reading {
    let comma = members.isEmpty ? "" : ", "
    return try read(
        """
        {"version": 1, "defaults": \(defaults), "jobs": [
        {"download": "http://h/f", "to": "f"\(comma)\(members)}
        ]}
        """, files: files)
}

extension JobSpec {
    var download: Download? {
        if case .download(let download) = work { return download }
        return nil
    }

    var upload: Upload? {
        if case .upload(let upload) = work { return upload }
        return nil
    }
}
