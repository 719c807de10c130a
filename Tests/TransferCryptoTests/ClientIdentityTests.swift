import Foundation
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferCrypto

@Suite struct ClientIdentityTests {
    private func client() async throws -> (TestAuthority, TestAuthority.Issued) {
        let authority = try await TestAuthority.shared()
        return (
            authority,
            try await authority.issue {
                $0.name = "client"
                $0.usage = "clientAuth"
                $0.alternativeNames = []
            }
        )
    }

    @Test func loadsACertificateWithItsKeyAndChain() async throws {
        let (_, issued) = try await client()
        let identity = try ClientIdentity(pemCertificate: issued.chain, key: issued.key)
        #expect(identity.certificate.subject == "CN=client")
        #expect(identity.chain.map(\.subject) == ["CN=Test Intermediate,O=Test"])
        #expect(identity.withPointers { certificate, _ in certificate == identity.certificate.withPointer { $0 } })
    }

    @Test func theKeyMayBeInTheSameFileAndTheChainInAnyOrder() async throws {
        let (authority, issued) = try await client()
        let folder = try TemporaryFolder()
        let parts = [authority.root.certificate, authority.intermediate.certificate, issued.key, issued.certificate]
        let text = try parts.map { try String(contentsOfFile: $0, encoding: .utf8) }.joined()
        let identity = try ClientIdentity(pemCertificate: try folder.write(text, to: "all.pem"))
        #expect(identity.certificate.subject == "CN=client")
        // The server has to know the authority at the end of the chain.
        #expect(identity.chain.map(\.subject) == ["CN=Test Intermediate,O=Test"])
    }

    @Test func twoOfTheSameAreEqual() async throws {
        let (authority, issued) = try await client()
        let one = try ClientIdentity(pemCertificate: issued.chain, key: issued.key)
        let other = try ClientIdentity(
            pkcs12: try await authority.pkcs12(issued, passphrase: "p"), passphrase: "p")
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
    }

    @Test func anEncryptedKeyNeedsItsPassphrase() async throws {
        let (authority, issued) = try await client()
        let key = try await authority.encrypted(key: issued.key, passphrase: "open sesame")
        let identity = try ClientIdentity(pemCertificate: issued.chain, key: key, passphrase: "open sesame")
        #expect(identity.certificate.subject == "CN=client")
        let wrong = #expect(throws: TransferError.self) {
            try ClientIdentity(pemCertificate: issued.chain, key: key, passphrase: "close sesame")
        }
        #expect(wrong?.message == "the passphrase of \(key) is wrong")
        let missing = #expect(throws: TransferError.self) {
            try ClientIdentity(pemCertificate: issued.chain, key: key)
        }
        #expect(missing?.code == .secretMissing)
        #expect(missing?.message == "\(key) is encrypted, and there is no passphrase")
        let long = String(repeating: "x", count: 5_000)
        #expect(throws: TransferError.self) {
            try ClientIdentity(pemCertificate: issued.chain, key: key, passphrase: long)
        }
    }

    @Test func anotherCertificatesKeyIsRefused() async throws {
        let (authority, issued) = try await client()
        let error = #expect(throws: TransferError.self) {
            try ClientIdentity(pemCertificate: issued.certificate, key: authority.root.key)
        }
        #expect(
            error?.message
                == "the key of \(authority.root.key) is not that of the certificate of \(issued.certificate)")
    }

    @Test func missingFilesAreNamed() async throws {
        let (_, issued) = try await client()
        let noKey = #expect(throws: TransferError.self) { try ClientIdentity(pemCertificate: issued.certificate) }
        #expect(noKey?.message == "\(issued.certificate) has no private key")
        let noFile = #expect(throws: TransferError.self) {
            try ClientIdentity(pemCertificate: issued.certificate, key: "/nowhere/key.pem")
        }
        #expect(noFile?.code == .fileMissing)
        #expect(noFile?.message.contains("/nowhere/key.pem") == true)
        let noCertificate = #expect(throws: TransferError.self) {
            try ClientIdentity(pemCertificate: issued.key, key: issued.key)
        }
        #expect(noCertificate?.message == "\(issued.key): the PEM text has no certificate")
    }

    @Test func aPKCS12FileHasAllOfIt() async throws {
        let (authority, issued) = try await client()
        let path = try await authority.pkcs12(issued, passphrase: "p12 passphrase")
        let identity = try ClientIdentity(pkcs12: path, passphrase: "p12 passphrase")
        #expect(identity.certificate.serialNumber == issued.serial)
        #expect(identity.chain.map(\.subject) == ["CN=Test Intermediate,O=Test"])
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let same = try ClientIdentity(pkcs12: bytes, passphrase: "p12 passphrase")
        #expect(same == identity)
    }

    @Test func aPKCS12FilesErrorsAreReported() async throws {
        let (authority, issued) = try await client()
        let path = try await authority.pkcs12(issued, passphrase: "right")
        let wrong = #expect(throws: TransferError.self) { try ClientIdentity(pkcs12: path, passphrase: "wrong") }
        #expect(wrong?.message == "the passphrase of \(path) is wrong")
        let missing = #expect(throws: TransferError.self) { try ClientIdentity(pkcs12: path, passphrase: nil) }
        #expect(missing?.code == .secretMissing)
        let other = #expect(throws: TransferError.self) { try ClientIdentity(pkcs12: issued.key, passphrase: nil) }
        #expect(other?.message.hasPrefix("\(issued.key): no PKCS#12") == true)
    }

    @Test func anEmptyPassphraseAndNoneAreTheSameForPKCS12() async throws {
        let (authority, issued) = try await client()
        let path = try await authority.pkcs12(issued, passphrase: "")
        for passphrase in [nil, ""] {
            let identity = try ClientIdentity(pkcs12: path, passphrase: passphrase)
            #expect(identity.certificate.subject == "CN=client")
        }
    }

    @Test func descriptionsHaveNothingOfTheKey() async throws {
        let (_, issued) = try await client()
        let identity = try ClientIdentity(pemCertificate: issued.chain, key: issued.key)
        #expect("\(identity)" == "client certificate of CN=client")
        var dumped = ""
        dump(identity, to: &dumped)
        #expect(!dumped.contains("keyPointer"))
    }
}
