import CTransferLinux
import Glibc
import Synchronization
import TransferCore
import TransferCrypto
import TransferEngine
import TransferJobs

/// The TLS rules that jobs name: jobs with the same ones share them, and with them their connections.
final class TLSRulesCache: Sendable {
    private struct Key: Hashable {
        let settings: JobSettings.TLSSettings
        let passphrase: String?
        /// The versions of the files now: rules read from an older version are not used again.
        let versions: [FileStamp?]
    }

    private let known = Mutex<[Key: TLSRules]>([:])

    /// - Throws: `TransferError` that names the file which can't be read or doesn't hold what it should.
    func rules(_ settings: JobSettings.TLSSettings, passphrase: String? = nil) throws(TransferError) -> TLSRules {
        guard settings != JobSettings.TLSSettings() else { return .system }
        let files = [settings.ca, settings.cert, settings.key].compactMap(\.self)
        let key = Key(settings: settings, passphrase: passphrase, versions: files.map(Self.version))
        if let rules = known.withLock({ $0[key] }) { return rules }
        let made = try Self.make(settings, passphrase)
        return known.withLock { known in
            if let rules = known[key] { return rules }
            // Versions of files that are gone are of no use.
            if known.count >= 64 { known.removeAll() }
            known[key] = made
            return made
        }
    }

    private static func make(
        _ settings: JobSettings.TLSSettings, _ passphrase: String?
    ) throws(TransferError) -> TLSRules {
        let anchors = try settings.ca.map { path throws(TransferError) in try TrustAnchors(pemFile: path) }
        var identities = ClientIdentities()
        if let certificate = settings.cert {
            identities.standard = try ClientIdentity(
                contentsOfFile: certificate, key: settings.key, passphrase: passphrase)
        }
        // Pins are a promise of their own: they hold without authorities.
        if settings.insecure, settings.pins.isEmpty { return TLSRules(identities: identities) { _ in } }
        return TLSRules(anchors: anchors, pins: Set(settings.pins), identities: identities)
    }

    /// - Returns: `nil` for a file that isn't there.
    private static func version(_ path: String) -> FileStamp? {
        var status = stat()
        return stat(path, &status) == 0 ? FileStamp(status).version : nil
    }
}
