/// The file name that a Content-Disposition field proposes (RFC 6266).
public enum ContentDisposition {
    /// Returns the proposed name; `filename*` (RFC 8187) takes precedence over `filename`. The name is unchecked: pass
    /// it through `SafeFileName`.
    public static func fileName(_ value: String) -> String? {
        var plain: String?
        for parameter in FieldParameters.of(value) {
            switch parameter.name.lowercased() {
            case "filename*":
                if let name = extended(parameter.value) { return name }
            case "filename": plain = plain ?? parameter.value
            default: break
            }
        }
        return plain
    }

    /// Decodes an extended value, such as `UTF-8''na%C3%AFve.txt`.
    private static func extended(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let bytes = PercentEncoding.decode(parts[2])
        switch parts[0].lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }
}
