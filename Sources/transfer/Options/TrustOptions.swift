import ArgumentParser
import TransferCore
import TransferQueue

/// The options for TLS: the trusted servers, and the client's certificate.
struct TrustOptions: ParsableArguments {
    @Option(
        name: .customLong("cacert"),
        help: ArgumentHelp("A PEM file with the only authorities to trust.", valueName: "file"),
        completion: .file(), transform: PathArgument.text)
    var authorities: String?

    @Option(
        name: .customLong("cert"),
        help: ArgumentHelp("The client's certificate, as PEM, DER or PKCS#12.", valueName: "file"),
        completion: .file(), transform: PathArgument.text)
    var certificate: String?

    @Option(
        name: .customLong("key"), help: ArgumentHelp("The certificate's private key.", valueName: "file"),
        completion: .file(), transform: PathArgument.text)
    var certificateKey: String?

    @Option(
        name: .customLong("key-passphrase"),
        help: ArgumentHelp(
            "The passphrase of the private key, by name: '$VARIABLE' or '@FILE'.", valueName: "$variable|@file"))
    var certificateKeyPassphrase: String?

    @Option(
        name: .customLong("pinnedpubkey"),
        help: ArgumentHelp(
            "The digests of public keys, one of which the server must have: sha256//…, separated by semicolons.",
            valueName: "digests"), transform: PinsArgument.text)
    var pins: String?

    @Flag(
        name: [.customShort("k"), .long],
        help: ArgumentHelp(
            "Accept any server without proof of its identity: anyone on the path can then read and change everything."))
    var insecure = false

    func add(to members: inout RequestMembers) throws {
        members.add("tls", authorities.map { .object(["ca": .path($0)]) }, "--cacert")
        members.add("tls", certificate.map { .object(["cert": .path($0)]) }, "--cert")
        members.add("tls", certificateKey.map { .object(["key": .path($0)]) }, "--key")
        let passphrase = try SecretArgument.value(certificateKeyPassphrase, "--key-passphrase")
        members.add("tls", passphrase.map { .object(["keyPassphrase": JSONText($0)]) }, "--key-passphrase")
        let digests = pins.map { JSONText.object(["pins": .array(PinsArgument.pins($0).map { .string($0) })]) }
        members.add("tls", digests, "--pinnedpubkey")
        if insecure { members.add("tls", .object(["insecure": .true]), "--insecure") }
    }

    func add(to given: inout GivenOptions) {
        given.add("--cacert", authorities)
        given.add("--cert", certificate)
        given.add("--key", certificateKey)
        given.add("--key-passphrase", certificateKeyPassphrase)
        given.add("--pinnedpubkey", pins)
        given.add("--insecure", insecure)
    }
}
