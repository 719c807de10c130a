// What protocols of uploads set of an exchange, which no fuzz target makes: in place of TransferEngine's own.

struct ExchangeSettings {
    var files: FileServerSettings?
    var credentials = Credentials()

    struct Credentials {
        var login: String?

        static func password(user: String, password: String) -> Credentials { Credentials(login: user) }
    }
}
