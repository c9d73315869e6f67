// PostgreSQL's JDBC driver against a running server: PORT PASSWORD.

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

public class Jdbc {
    static void check(boolean holds, Object what) {
        if (!holds) throw new AssertionError(what);
    }

    static void refused(Connection connection, String sql, String word) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeQuery(sql);
            throw new AssertionError(sql);
        } catch (SQLException error) {
            check(error.getMessage().contains(word), error.getMessage());
        }
    }

    public static void main(String[] arguments) throws Exception {
        String url = "jdbc:postgresql://127.0.0.1:" + arguments[0] + "/clinic";
        for (String mode : new String[] {"simple", "extended", "extendedForPrepared", "extendedCacheEverything"}) {
            Properties properties = new Properties();
            properties.put("user", "ana");
            properties.put("password", arguments[1]);
            properties.put("preferQueryMode", mode);
            try (Connection connection = DriverManager.getConnection(url, properties)) {
                ask(connection, mode);
            }
            System.out.println("ok " + mode);
        }
        try {
            DriverManager.getConnection(url, "ana", "not the password").close();
            throw new AssertionError("let in");
        } catch (SQLException error) {
            check(error.getSQLState().equals("28P01"), error.getMessage());
        }
    }

    static void ask(Connection connection, String mode) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET demure.epsilon = 20");
            try (ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM stays WHERE age >= 40")) {
                check(rows.next() && Math.abs(rows.getLong(1) - 260) <= 10, "count");
                check(statement.getWarnings() != null, "what it cost is said");
                check(statement.getWarnings().getMessage().contains("ε 20") || statement.getWarnings().getMessage().contains("bought before"), statement.getWarnings());
            }
        }
        // Often enough that the driver prepares it on the server and reads it in binary.
        String sql = "SELECT ward, COUNT(*) AS n, AVG(paid) AS mean FROM stays WHERE age >= ? AND ward <> ? GROUP BY ward ORDER BY ward";
        try (PreparedStatement prepared = connection.prepareStatement(sql)) {
            // The driver knows neither beforehand where it prepares nothing.
            if (!mode.equals("simple")) {
                check(prepared.getParameterMetaData().getParameterCount() == 2, "parameters");
                check(prepared.getMetaData().getColumnType(3) == Types.DOUBLE, "the mean's type");
            }
            for (int age = 20; age < 32; age++) {
                prepared.setInt(1, age);
                prepared.setString(2, "south");
                prepared.setFetchSize(age % 2 == 0 ? 2 : 0);
                List<String> wards = new ArrayList<>();
                try (ResultSet rows = prepared.executeQuery()) {
                    while (rows.next()) {
                        wards.add(rows.getString("ward"));
                        check(!Double.isNaN(rows.getDouble("mean")), "mean");
                        check(rows.getLong("n") >= 0, "n");
                    }
                }
                check(wards.equals(List.of("east", "north")), wards);
            }
        }
        // In pages, within a transaction: a portal of its own.
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(1);
            int seen = 0;
            try (ResultSet rows = statement.executeQuery("SELECT ward, COUNT(*) FROM stays GROUP BY ward")) {
                while (rows.next()) seen++;
            }
            check(seen == 3, seen);
        }
        connection.commit();
        refused(connection, "SELECT * FROM stays", "would show rows");
        connection.rollback();
        refused(connection, "DROP TABLE stays", "");
        connection.rollback();
        connection.setAutoCommit(true);

        // What a BI tool looks at first.
        DatabaseMetaData about = connection.getMetaData();
        boolean found = false;
        try (ResultSet tables = about.getTables(null, null, "%", new String[] {"TABLE", "VIEW"})) {
            while (tables.next()) found |= tables.getString("TABLE_NAME").equals("stays");
        }
        check(found, "stays is among the tables");
        List<String> columns = new ArrayList<>();
        try (ResultSet rows = about.getColumns(null, null, "stays", "%")) {
            while (rows.next()) columns.add(rows.getString("COLUMN_NAME"));
        }
        check(columns.contains("age") && columns.contains("ward"), columns);
        check(connection.isValid(5), "still alive after " + mode);
    }
}
