import Testing

@testable import TransferStorePostgres

/// The servers of an address, without a connection to any of them.
@Suite struct PostgresHostsTests {
    private typealias Host = PostgresHosts.Host

    private func hosts(_ keywords: [String: String], _ environment: [String: String] = [:]) -> [Host]? {
        PostgresHosts(keywords) { environment[$0] }?.all
    }

    @Test func eachHostHasItsOwnPortOrTheCommonOne() throws {
        #expect(hosts(["host": "a,b", "port": "1,2"]) == [Host(host: "a", port: "1"), Host(host: "b", port: "2")])
        #expect(hosts(["host": "a,b", "port": "1"]) == [Host(host: "a", port: "1"), Host(host: "b", port: "1")])
        #expect(hosts(["host": "a,b"]) == [Host(host: "a"), Host(host: "b")])
        #expect(hosts(["host": "a,b", "port": ","]) == [Host(host: "a", port: ""), Host(host: "b", port: "")])
    }

    @Test func namesAreLookedUpAndNothingElse() throws {
        let all = try #require(hosts(["host": "db.example,/run/postgresql,@abstract,,c", "hostaddr": ",,,,192.0.2.1"]))
        #expect(all.map(\.name) == ["db.example", nil, nil, nil, nil])
        #expect(all.last == Host(host: "c", address: "192.0.2.1"))
        #expect(hosts(["hostaddr": "192.0.2.1"]) == [Host(address: "192.0.2.1")])
    }

    @Test func variablesFillInForMissingPartsOfTheAddress() throws {
        let environment = ["PGHOST": "a,b", "PGPORT": "7"]
        #expect(hosts([:], environment) == [Host(host: "a", port: "7"), Host(host: "b", port: "7")])
        #expect(hosts(["host": "c", "port": "8"], environment) == [Host(host: "c", port: "8")])
        #expect(hosts(["host": "c"], ["PGHOSTADDR": "192.0.2.1"]) == [Host(host: "c", address: "192.0.2.1")])
    }

    @Test(arguments: [
        [:], ["host": "a,b", "port": "1,2,3"], ["host": "a,b", "hostaddr": "192.0.2.1"],
    ])
    func libpqFindsItsUsualServerAndJudgesListsThatDontFit(_ keywords: [String: String]) {
        #expect(hosts(keywords) == nil)
    }
}
