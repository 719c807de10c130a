import TransferCore
package import TransferJobs

/// The result of reading a text.
package struct Reading {
    package var batch: BatchSpec?
    package var jobs: [JobSpec] = []
    package var locations: [JobLocations] = []
    package var watches: [WatchSpec] = []
    package var watchLocations: [WatchLocations] = []
    package var faults: [JobFileFault] = []
    package var report = JobFileReport()

    package init() {}

    /// The faults as `line:column:length path message`.
    package var lines: [String] {
        faults.map { "\($0.span.line):\($0.span.column):\($0.span.length) \($0.path) \($0.message)" }
    }
}

package struct NoSuchFile: Error, CustomStringConvertible {
    package init() {}

    package var description: String { "no such file" }
}

/// - Parameter piece: The number of bytes that are fed at a time; `nil` reads the text as a whole.
package func read(
    _ text: String, as format: JobFileFormat? = .json, files: [String: String] = [:], piece: Int? = nil,
    directory: String? = nil
) throws -> Reading {
    try read(Array(text.utf8), as: format, files: files, piece: piece, directory: directory)
}

package func read(
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
package func readJob(_ members: String, defaults: String = "{}", files: [String: String] = [:]) throws -> Reading {
    let comma = members.isEmpty ? "" : ", "
    return try read(
        """
        {"version": 1, "defaults": \(defaults), "jobs": [
        {"download": "http://h/f", "to": "f"\(comma)\(members)}
        ]}
        """, files: files)
}

extension JobSpec {
    package var download: Download? {
        if case .download(let download) = work { return download }
        return nil
    }

    package var upload: Upload? {
        if case .upload(let upload) = work { return upload }
        return nil
    }
}
