/// The URLs of a job, found before the job itself is read. The job's starting values depend on them, although they may
/// come last.
package enum JobURLs {
    package enum Kind { case job, watch }

    /// Returns the URLs of a job.
    ///
    /// - Parameter reader: A reader at the object; it is not moved.
    /// - Returns: An empty array for a value that is no job, a fault that the reading of the job reports.
    package static func read(_ reader: JSONReader, _ kind: Kind) throws(JSONFault) -> [String] {
        var reader = reader
        guard try reader.kind() == .object else { return [] }
        try reader.beginObject()
        var isFirst = true
        var sources: [String] = []
        var destination: [String] = []
        var isUpload = kind == .watch
        while let key = try reader.key(isFirst: &isFirst) {
            switch JobKey(rawValue: reader.string(key)) {
            case .download: sources = try texts(&reader)
            case .to: destination = try texts(&reader)
            case .upload:
                isUpload = true
                try reader.skipValue(checkingKeys: false)
            default: try reader.skipValue(checkingKeys: false)
            }
        }
        return isUpload ? destination : sources
    }

    private static func texts(_ reader: inout JSONReader) throws(JSONFault) -> [String] {
        switch try reader.kind() {
        case .string: return [reader.string(try reader.string())]
        case .array:
            var texts: [String] = []
            var isFirst = true
            try reader.beginArray()
            while try reader.element(isFirst: &isFirst) { texts += try self.texts(&reader) }
            return texts
        default:
            try reader.skipValue(checkingKeys: false)
            return []
        }
    }
}
