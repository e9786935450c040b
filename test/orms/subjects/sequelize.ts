import { Sequelize } from "sequelize";
import { fromSequelize } from "posthorn/orm";
import { driverOf, opened } from "./subject.js";

export const sequelize = driverOf({ name: "sequelize", commit: "COMMIT" }, ({ url, max }) => {
  const instance = new Sequelize(url, { dialect: "postgres", logging: false, pool: { min: 0, max } });
  return opened(fromSequelize(instance), {
    inside: (transaction, text) => instance.query(text, { transaction }),
    end: () => instance.close(),
  });
});
