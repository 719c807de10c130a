/// The parameters of a header field's value: `; name=value; name="quoted value"` (RFC 9110 §5.6.6).
public enum FieldParameters {
    /// Returns the parameters in their order, with names as written, and with quoted values without their quotes and
    /// escapes.
    public static func of(_ value: String) -> [(name: String, value: String)] {
        var result: [(String, String)] = []
        var rest = value.drop { $0 != ";" }
        while rest.first == ";" {
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest[name.endIndex...]
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            var text = ""
            if rest.first == "\"" {
                rest = rest.dropFirst()
                while let character = rest.popFirst(), character != "\"" {
                    text.append(character == "\\" ? rest.popFirst() ?? "\\" : character)
                }
                rest = rest.drop { $0 != ";" }
            } else {
                let token = rest.prefix { $0 != ";" }
                rest = rest[token.endIndex...]
                text = String(token)
                while text.last == " " || text.last == "\t" { text.removeLast() }
            }
            var trimmed = name
            while trimmed.last == " " { trimmed.removeLast() }
            result.append((String(trimmed), text))
        }
        return result
    }
}
