import TransferCore

extension JobFileReader {
    /// Reads the array of `"watch"`, with the defaults known.
    ///
    /// - Parameters:
    ///   - start: Where it begins.
    ///   - base: Stands before it.
    mutating func watches(
        at start: Int, _ bytes: UnsafeBufferPointer<UInt8>, _ base: SourceCursor,
        _ sink: (JobFileElement) throws -> Void
    ) throws {
        var cursor = base
        decoder.reader = JSONReader(bytes, offset: start)
        var isFirst = true
        do {
            try decoder.reader.beginArray()
        } catch {
            return
        }
        while true {
            let index = report.watchCount
            let context = { (cursor: SourceCursor) in
                FaultContext(bytes: bytes, base: cursor, path: "$.watch[\(index)]")
            }
            let result: (spec: WatchSpec?, places: WatchPlaces)
            do {
                guard try decoder.reader.element(isFirst: &isFirst) else { return }
                cursor.advance(to: decoder.reader.offset, in: bytes)
                result = try decoder.watch(directory: directory)
            } catch {
                // What the first reading lets pass, such as a key that occurs twice within an unknown value.
                decoder.note(error.message, error.range)
                _ = try flush(context(cursor), sink)
                report.watchCount += 1
                return
            }
            report.watchCount += 1
            if let spec = result.spec { noteTwin(of: spec, result.places, cursor, bytes) }
            guard try !flush(context(cursor), sink), let spec = result.spec else { continue }
            let entry = cursor.span(result.places.entry, in: bytes)
            let folder = result.places.folder.map { cursor.span($0, in: bytes) } ?? entry
            try sink(.watch(spec, WatchLocations(index: index, entry: entry, folder: folder)))
        }
    }

    /// Two entries would both take each file.
    private mutating func noteTwin(
        of spec: WatchSpec, _ places: WatchPlaces, _ cursor: SourceCursor, _ bytes: UnsafeBufferPointer<UInt8>
    ) {
        let range = places.range(of: .folder)
        if let line = watchedFolders[spec.folder] {
            decoder.note("same folder as another entry (line \(line))", range)
        } else {
            watchedFolders[spec.folder] = cursor.span(range, in: bytes).line
        }
    }
}
