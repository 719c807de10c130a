import TransferCore

/// The conversion of a file's name in a Metalink to a path that stays in the folder (RFC 5854 §4.1.2.1 and §4.2.8.3).
package enum MetalinkName {
    /// Converts a name to a path.
    ///
    /// - Returns: The path, with each component safe; `nil` where the name is empty or would leave the folder.
    package static func path(_ name: String) -> String? {
        guard !name.isEmpty, !name.hasPrefix("/"), !name.hasPrefix("\\"), !name.hasSuffix("/"), !name.hasSuffix("\\")
        else { return nil }
        var components: [String] = []
        for component in name.unicodeScalars.split(
            omittingEmptySubsequences: true, whereSeparator: { $0 == "/" || $0 == "\\" })
        {
            let text = String(component)
            if text == "." { continue }
            // A Windows drive.
            guard text != "..", !(components.isEmpty && isDrive(text)), let safe = SafeFileName.make(text) else {
                return nil
            }
            components.append(safe)
        }
        return components.isEmpty ? nil : components.joined(separator: "/")
    }

    private static func isDrive(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        return scalars.count == 2 && scalars[1] == ":" && scalars[0].properties.isAlphabetic
    }
}
