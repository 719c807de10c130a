import TransferCore

extension JobFileReader {
    /// Reads the array of `"watch"`, with the defaults known.
    ///
    /// - Parameters:
    ///   - start: Where it begins.
    ///   - base: Stands before it.
    package mutating func watches(
        at start: Int, _ bytes: UnsafeBufferPointer<UInt8>, _ base: SourceCursor,
        _ sink: (JobFileElement) throws -> Void
    ) throws {
        let directory = directory
        try elements(of: "watch", counted: \.watchCount, at: start, bytes, base, sink) { decoder throws(JSONFault) in
            try WatchDraft.read(&decoder, directory: directory)
        } take: { reader, result, cursor in
            try reader.hand(result, bytes, cursor, sink)
        }
    }

    private mutating func hand(
        _ result: (spec: WatchSpec?, places: WatchPlaces), _ bytes: UnsafeBufferPointer<UInt8>, _ cursor: SourceCursor,
        _ sink: (JobFileElement) throws -> Void
    ) throws {
        let index = report.watchCount
        report.watchCount += 1
        if let spec = result.spec { compare(spec, result.places, cursor, bytes) }
        let context = FaultContext(bytes: bytes, base: cursor, path: "$.watch[\(index)]")
        guard try !flush(context, sink), let spec = result.spec else { return }
        let entry = cursor.span(result.places.entry, in: bytes)
        let folder = result.places.folder.map { cursor.span($0, in: bytes) } ?? entry
        try sink(.watch(spec, WatchLocations(index: index, entry: entry, folder: folder)))
    }

    /// Notes what is wrong with an entry beside those before it.
    private mutating func compare(
        _ spec: WatchSpec, _ places: WatchPlaces, _ cursor: SourceCursor, _ bytes: UnsafeBufferPointer<UInt8>
    ) {
        let range = places.range(of: .folder)
        if let twin = watched.first(where: { $0.spec.folder == spec.folder }) {
            // Both would take each file.
            return decoder.note("same folder as another entry (line \(twin.line))", range)
        }
        let entry = WatchPath.Entry(spec: spec, line: cursor.span(range, in: bytes).line)
        watched.append(entry)
        if let circle = WatchPath.circle(from: entry, watched) {
            let lines = Wording.list(circle.map { "\($0.line)" })
            decoder.note(
                "files would be uploaded and moved round for ever: what is moved here ends where it came from (lines \(lines))",
                places.range(of: .then))
        }
    }
}
