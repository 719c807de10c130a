public import Foundation
public import TransferCrypto

extension Bundle: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: Bundle {
    /// The certificates of the bundle's resources with the extensions `.cer`, `.crt`, `.der` and `.pem`, in PEM or DER,
    /// each once. Files without a certificate are skipped. Where each file matters, the count can be compared, or
    /// `Certificate.certificates(inFolder:)` used, which throws.
    public var certificates: [SecCertificate] {
        var seen: Set<SecCertificate> = []
        return paths(forResourcesOfTypes: ["cer", "crt", "der", "pem"].bothCases).flatMap { path in
            (try? Certificate.certificates(atPath: path)) ?? []
        }.filter { seen.insert($0).inserted }
    }

    /// The public keys of the bundle's certificates, and of its files with the extension `.pub`, each once.
    public var publicKeys: [SecKey] {
        var seen: Set<SecKey> = []
        return paths(forResourcesOfTypes: ["cer", "crt", "der", "pem", "pub"].bothCases).flatMap { path in
            (try? PublicKey.publicKeys(atPath: path)) ?? []
        }.filter { seen.insert($0).inserted }
    }

    /// Returns the paths of all resources with one of the extensions, each once.
    public func paths(forResourcesOfTypes types: [String]) -> [String] {
        var seen: Set<String> = []
        return types.flatMap { type.paths(forResourcesOfType: $0, inDirectory: nil) }
            .filter { seen.insert($0).inserted }
    }
}

extension [String] {
    fileprivate var bothCases: [String] { self + map { $0.uppercased() } }
}
