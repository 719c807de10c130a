import TransferCore
import TransferCrypto
import TransferEngine

/// The output of `transfer --version`, with the libraries in use, and the features that old ones lack.
enum VersionText {
    static var full: String {
        let lapses = CurlLibrary.missingFeatures
        return "transfer \(TransferVersion.current)\n\(CurlLibrary.version)\n\(CryptoVersion.openSSL)"
            + (lapses.isEmpty ? "" : "\nnot with this libcurl: \(lapses.joined(separator: ", "))")
    }
}
