import ArgumentParser
import TransferQueue

/// A secret that an option names: `$VARIABLE` or `@FILE`.
enum SecretArgument {
    /// Parses the place of a secret.
    ///
    /// - Throws: `ValidationError`, which never repeats the value.
    static func value(_ text: String?, _ option: String) throws -> SecretText? {
        guard let text else { return nil }
        if text.hasPrefix("$"), text.count > 1 { return .environment(String(text.dropFirst())) }
        if text.hasPrefix("@"), text.count > 1 { return .file(Composition.absolute(String(text.dropFirst()))) }
        throw ValidationError("\(option) takes '$VARIABLE' or '@FILE': every user of the machine sees the command line")
    }
}
