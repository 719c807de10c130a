import TransferQueue

/// The digests of public keys: `sha256/…`, or in curl's form, `sha256//…;sha256//…`.
enum PinsArgument: OptionText {
    static func isTaken(_ argument: String) -> Bool {
        let pins = pins(argument)
        return !pins.isEmpty && pins.allSatisfy { PinRule.refusal(of: $0) == nil }
    }

    static let form = "sha256// and 44 characters of base 64, several of them separated by semicolons"

    static func pins(_ argument: String) -> [String] {
        argument.split(separator: ";").map { pin in
            pin.hasPrefix("sha256//") ? "sha256/" + pin.dropFirst("sha256//".count) : String(pin)
        }
    }
}

/// The fingerprint of an SSH server's key.
enum HostKeyArgument: OptionText {
    static func isTaken(_ argument: String) -> Bool { HostKeyRule.refusal(of: argument) == nil }

    static let form = "SHA256: and 43 characters of base 64, as ssh-keygen -lf shows it"
}

/// The method of a request.
enum MethodArgument: OptionText {
    static func isTaken(_ argument: String) -> Bool { HeaderRule.refusal(ofMethod: argument) == nil }

    static let form = "the name of a method, such as GET, POST or PUT"
}

/// A file or a folder, whose existence is checked when it is opened.
enum PathArgument: OptionText {
    static func isTaken(_ argument: String) -> Bool { !argument.isEmpty }

    static let form = "the path of a file or a folder, such as ./out"
}

/// The links to use.
enum LinkArgument: OptionText {
    static func isTaken(_ argument: String) -> Bool { LinkRule.refusal(ofName: argument) == nil }

    static let form = "the name of a network interface, such as eth0, or a pattern, such as 'wwan*'"

    static func fault(of argument: String) -> String? { LinkRule.refusal(ofName: argument) }
}

/// The server of s3:// URLs.
enum EndpointArgument: OptionText {
    static func isTaken(_ argument: String) -> Bool { JobSettings.S3Access.refusal(ofEndpoint: argument) == nil }

    static let form = "https://HOST or http://HOST, with :PORT and /PATH where it has them"

    static func fault(of argument: String) -> String? { JobSettings.S3Access.refusal(ofEndpoint: argument) }
}
