/// Finds the URLs of a job before the job is read: what it begins with depends on them, and they can stand at its end.
package enum JobURLs {
    package enum Kind { case job, watch }

    /// - Parameter reader: At the object; it isn't moved.
    /// - Returns: Nothing for what is no job, which the reading of it tells.
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
